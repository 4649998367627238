-- Delegations: part of a parent's authority, given to a client until a moment. A record never changes, but for its revocation.
create table delegations (
  tenant_id text not null references authority,
  id text not null check (id ~ '^dlg_[0-9a-f]{32}$'),
  parent_id text,
  -- On whose behalf, all the way down.
  principal_id text not null,
  given_by text not null check (given_by in ('principal', 'client', 'operator')),
  delegator text not null,
  holder text not null,
  rules jsonb not null check (jsonb_typeof(rules) = 'array' and jsonb_array_length(rules) > 0),
  depth int not null check (depth between 0 and 7),
  depth_max int not null check (depth_max between depth and 7),
  uses_max int check (uses_max > 0),
  not_before timestamptz not null,
  expires_at timestamptz not null check (expires_at > not_before),
  reason text,
  created_at timestamptz not null,
  created_by text not null,
  revoked_at timestamptz,
  revoked_by text,
  revoked_reason text,
  -- The depth of the one above; null above a root, which is above nothing.
  above int generated always as (case when depth > 0 then depth - 1 end) stored,
  primary key (tenant_id, id),
  unique (tenant_id, id, holder, principal_id, depth),
  check ((parent_id is null) = (depth = 0)),
  check (parent_id is null or given_by = 'client'),
  check (given_by <> 'principal' or delegator = principal_id),
  check ((revoked_at is null) = (revoked_by is null) and (revoked_at is null) = (revoked_reason is null)),
  -- A link is given by the holder of the one above, on behalf of the same principal, one step deeper.
  foreign key (tenant_id, parent_id, delegator, principal_id, above) references delegations (tenant_id, id, holder, principal_id, depth)
);
create index delegations_principal on delegations (tenant_id, principal_id, id);
create index delegations_holder on delegations (tenant_id, holder, id);
create index delegations_delegator on delegations (tenant_id, delegator, id);

create function writ_revoke_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.revoked_at is null and new.revoked_at is not null
      and (to_jsonb(new) - '{revoked_at,revoked_by,revoked_reason,above}'::text[])
        = (to_jsonb(old) - '{revoked_at,revoked_by,revoked_reason,above}'::text[]) then
    return new;
  end if;
  raise exception 'a delegation never changes, but for its revocation' using errcode = 'integrity_constraint_violation';
end $$;
create trigger delegations_revoke_only before update or delete on delegations
  for each row execute function writ_revoke_only();
create trigger delegations_kept before truncate on delegations for each statement execute function writ_immutable();

-- People and clients who may not act any more, whatever their tokens say.
create table revocations (
  tenant_id text not null references authority,
  id text not null check (id ~ '^rev_[0-9a-f]{32}$'),
  scope text not null check (scope in ('principal', 'client')),
  name text not null,
  reason text not null,
  actor text not null,
  at timestamptz not null,
  lifted_at timestamptz,
  lifted_by text,
  primary key (tenant_id, id),
  check ((lifted_at is null) = (lifted_by is null))
);
create trigger revocations_kept before truncate on revocations for each statement execute function writ_immutable();
create function writ_lift_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.lifted_at is null and new.lifted_at is not null
      and (to_jsonb(new) - '{lifted_at,lifted_by}'::text[]) = (to_jsonb(old) - '{lifted_at,lifted_by}'::text[]) then
    return new;
  end if;
  raise exception 'a revocation never changes, but for its lifting' using errcode = 'integrity_constraint_violation';
end $$;
create trigger revocations_lift_only before update or delete on revocations
  for each row execute function writ_lift_only();
create unique index revocations_standing on revocations (tenant_id, scope, name) where lifted_at is null;
