-- Three rows and nothing else: no history, no key, no look-alike, no signature. The least that could be called a record.
create table inventory (
  tenant_id text not null, id text not null, version int not null, available int not null,
  updated_at timestamptz not null default now(), primary key (tenant_id, id)) with (fillfactor = 70);
insert into inventory select 'tenant_' || (i % 10), 'item_' || i, 1, 100 from generate_series(0, 99999) i;
create table op (
  tenant_id text not null, op_id uuid not null, principal text not null, tool text not null,
  state text not null, action jsonb not null, digest bytea not null,
  created_at timestamptz not null default now(), expires_at timestamptz not null,
  attempt int not null default 0, fence bigint, claimed_at timestamptz, primary key (tenant_id, op_id)) with (fillfactor = 85);
create index op_open on op (created_at) where state in ('proposed', 'authorized', 'executing', 'unknown');
create table receipt (
  tenant_id text not null, op_id uuid not null, outcome text not null, evidence jsonb not null,
  created_at timestamptz not null default now(), primary key (tenant_id, op_id));
