-- Proofs of possession (RFC 9449) that were used: whoever comes second, in whichever process, finds the row.
create table spent_proofs (
  tenant_id text not null references authority,
  proof text not null,
  -- By the clock that judges proofs, none that is this old is accepted any more.
  until timestamptz not null,
  primary key (tenant_id, proof)
);
create index spent_proofs_until on spent_proofs (tenant_id, until);

-- A person's browser. Only the digest of the secret in their cookie is kept.
create table console_sessions (
  tenant_id text not null references authority,
  secret_digest text not null,
  principal_id text not null,
  client_id text not null,
  roles jsonb not null,
  authenticated_at timestamptz,
  acr text,
  started_at timestamptz not null,
  used_at timestamptz not null,
  -- The end, however often it is used.
  ends_at timestamptz not null,
  primary key (tenant_id, secret_digest),
  check (started_at <= used_at and started_at < ends_at)
);
create index console_sessions_principal on console_sessions (tenant_id, principal_id, started_at);
create index console_sessions_ends on console_sessions (tenant_id, ends_at);
