-- The tables of the example, in the ledger's own database. Applied by `writ dev` and `writ demo` only; every line may run again.
create table if not exists inventory (
  tenant_id text not null,
  warehouse text not null,
  item text not null,
  available int not null check (available >= 0),
  version int not null,
  primary key (tenant_id, warehouse, item)
);

-- The provider's own journal: a line for every change, written by a trigger, whoever made it. Effects are counted here and nowhere else.
create table if not exists inventory_journal (
  n bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  by text not null default current_setting('application_name'),
  tenant_id text not null,
  warehouse text not null,
  item text not null,
  available int not null,
  version int not null
);

create or replace function inventory_keep_journal() returns trigger language plpgsql as $$
begin
  insert into inventory_journal (tenant_id, warehouse, item, available, version)
  values (new.tenant_id, new.warehouse, new.item, new.available, new.version);
  return new;
end $$;

create or replace trigger inventory_journal after insert or update on inventory
  for each row execute function inventory_keep_journal();
