-- Raises a tenant's epoch and says why, in the commit of whatever else changed; null for a tenant that nobody enrolled. Whatever changes
-- authority on a condition calls it from the rows that it changed.
create function writ_raise(tenant text, what text, who text, details jsonb) returns bigint language sql volatile as $$
  with raised as (update authority set epoch = epoch + 1 where tenant_id = tenant returning tenant_id, epoch)
  insert into authority_events (tenant_id, epoch, type, actor, data, at)
  select tenant_id, epoch, what, who, details, writ_clock() from raised returning epoch
$$;
