-- The second wall between tenants: whatever serves one tenant's request reads as this role, which sees the rows of the tenant that its
-- transaction names and, where it names none, no row at all. The first wall is that every statement says tenant_id itself.
do $$
begin
  if not exists (select from pg_roles where rolname = 'writ_reader') then
    create role writ_reader nologin;
  end if;
exception when duplicate_object or unique_violation then
  null; -- Roles belong to the whole server: another database of it was a moment faster.
end $$;
do $$
begin
  -- Whoever made the role may not take it on by that alone.
  if not pg_has_role(current_user, 'writ_reader', 'member') then
    execute format('grant writ_reader to %I', current_user);
  end if;
end $$;

-- Puts one table behind the wall. Each table with a tenant_id stands there; a test holds that.
create function writ_wall(name text) returns void language plpgsql as $$
begin
  execute format('alter table %I enable row level security', name);
  execute format('create policy tenant_wall on %I for select to writ_reader using (tenant_id = current_setting(''writ.tenant'', true))', name);
  execute format('grant select on %I to writ_reader', name);
end $$;
select writ_wall(c.table_name::text) from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
  where c.table_schema = current_schema() and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE' order by c.table_name;
