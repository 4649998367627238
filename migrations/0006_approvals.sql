-- A person's own authenticator. What it signs is kept with the approval, with the key: removing one here takes nothing back.
create table passkeys (
  tenant_id text not null references authority,
  -- The credential's id and its COSE key, base64url.
  id text not null,
  person text not null,
  name text not null,
  public_key text not null,
  counter bigint not null check (counter >= 0),
  transports jsonb not null,
  created_at timestamptz not null,
  used_at timestamptz,
  -- Its counter went backwards: there may be two of it.
  suspect_at timestamptz,
  primary key (tenant_id, id)
);
create index passkeys_person on passkeys (tenant_id, person);

-- How much of one client waits for people.
create index operations_asking on operations (tenant_id, client_id) where state = 'proposed';
