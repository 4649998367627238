-- Policies by content: what was written once is never changed and never disappears.
create table policies (
  tenant_id text not null references authority,
  digest text not null check (digest like 'sha-256:%'),
  -- The exact canonical text that the digest is over.
  body text not null,
  actor text not null,
  kept_at timestamptz not null,
  primary key (tenant_id, digest)
);
create trigger policies_immutable before update or delete on policies
  for each row execute function writ_immutable();

-- Which policy stood when. The number only grows: going back is another activation of older text.
create table policy_activations (
  tenant_id text not null,
  number bigint not null check (number > 0),
  digest text not null,
  epoch bigint not null,
  actor text not null,
  reason text not null,
  at timestamptz not null,
  primary key (tenant_id, number),
  foreign key (tenant_id, digest) references policies
);
create trigger policy_activations_immutable before update or delete on policy_activations
  for each row execute function writ_immutable();

-- The policy that stands: the number of its activation and its digest. '' where none does: then everything is denied.
alter table authority add column policy_version text not null default '';

-- What was refused lately on a resource, where a policy asks for it.
create index operations_rejections on operations (tenant_id, resource, id) where state = 'rejected';
