-- The ledger. Every rule the database can keep, it keeps. tenant_id is the first column of every key.

-- The two clocks that every statement asks, so that a test can replace them in its own database.
create function writ_now() returns timestamptz language sql stable as $$ select statement_timestamp() $$;
create function writ_clock() returns timestamptz language sql volatile as $$ select clock_timestamp() $$;

-- Milliseconds since 1970, the only form in which a time leaves the database.
-- Declared no stricter than their bodies, so that the planner can write the bodies in their place.
create function writ_ms(at timestamptz) returns bigint language sql stable
  as $$ select floor(extract(epoch from at) * 1000)::bigint $$;
create function writ_at(ms bigint) returns timestamptz language sql stable
  as $$ select to_timestamp(ms / 1000.0) $$;

-- An immutable table says no to whoever tries.
create function writ_immutable() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % never change and never disappear', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;

-- Raising the epoch ends every permission that was decided under an older one. A claim share-locks this row.
create table authority (
  tenant_id text primary key check (tenant_id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  epoch bigint not null default 1 check (epoch > 0),
  definitions_digest text not null default '',
  -- Keys the tenant's look-alike digests, on every host alike. base64url.
  lookalike_key text not null default ''
);

create table authority_events (
  tenant_id text not null references authority,
  epoch bigint not null,
  type text not null,
  actor text not null,
  data jsonb not null,
  at timestamptz not null,
  primary key (tenant_id, epoch)
);
create trigger authority_events_immutable before update or delete on authority_events
  for each row execute function writ_immutable();

create table halts (
  tenant_id text not null references authority,
  id text not null,
  scope text not null check (scope in ('tenant', 'tool', 'provider', 'principal', 'client', 'delegation')),
  name text check ((scope = 'tenant') = (name is null)),
  reason text not null,
  actor text not null,
  at timestamptz not null,
  lifted_at timestamptz,
  lifted_by text,
  primary key (tenant_id, id),
  check ((lifted_at is null) = (lifted_by is null))
);
create index halts_standing on halts (tenant_id) where lifted_at is null;

-- A tool with its contract, by content: an operation is executed and reconciled under the one that it pins.
create table definitions (
  tenant_id text not null references authority,
  digest text not null,
  body jsonb not null,
  kept_at timestamptz not null,
  primary key (tenant_id, digest)
);
create trigger definitions_immutable before update or delete on definitions
  for each row execute function writ_immutable();

create table operations (
  tenant_id text not null,
  id uuid not null,
  revision int not null check (revision > 0),
  state text not null check (state in ('proposed', 'authorized', 'executing', 'succeeded', 'rejected', 'unknown')),
  reason text check (reason in ('invalid', 'denied', 'review_denied', 'expired', 'revoked', 'precondition_failed', 'not_found',
                                'provider_refused', 'not_applied', 'cancelled', 'superseded')),
  tool text not null,
  tool_digest text not null,
  provider text not null,
  resource text not null,
  principal_id text not null,
  client_id text not null,
  intent_key text,
  -- The exact bytes (RFC 8785) that were authorized and are executed.
  action text not null,
  digest text not null,
  effect_digest text not null,
  expected_version text,
  compensates uuid,
  supersedes uuid,
  execute text not null check (execute in ('now', 'later')),
  note text,
  permission jsonb,
  authorized_at timestamptz,
  expires_at timestamptz not null,
  attempts jsonb not null,
  inquiry jsonb not null,
  evidence jsonb,
  current_version text,
  attention text,
  event_count int not null check (event_count > 0),
  event_hash text not null,
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  settled_at timestamptz,
  primary key (tenant_id, id),
  check ((state = 'rejected') = (reason is not null)),
  check ((state in ('succeeded', 'rejected')) = (settled_at is not null)),
  check (state <> 'succeeded' or evidence is not null),
  check (state in ('proposed', 'rejected') or permission is not null)
) with (fillfactor = 85);

-- Look-alikes: rows are found by what they would do, for this tenant only.
create index operations_effect on operations (tenant_id, effect_digest);
create index operations_due on operations (due_at) where due_at is not null;
create index operations_unsettled on operations (tenant_id, id) where settled_at is null;
create index operations_attention on operations (tenant_id, id) where attention is not null;
-- One live compensation for each operation.
create unique index operations_compensation on operations (tenant_id, compensates) where compensates is not null and state <> 'rejected';

-- What a caller sent to say "the same intent". Outlives the operation's details: a spent key stays spent.
create table intent_keys (
  tenant_id text not null,
  principal_id text not null,
  intent_key text not null,
  operation_id uuid not null,
  proposal_digest text not null,
  content_digest text not null,
  primary key (tenant_id, principal_id, intent_key)
);

-- Two look-alikes meet on one row here, so that checking and inserting is one step.
create table effect_guards (
  tenant_id text not null,
  scope text not null,
  effect_digest text not null,
  passes bigint not null default 1,
  primary key (tenant_id, scope, effect_digest)
) with (fillfactor = 70);

create table events (
  tenant_id text not null,
  operation_id uuid not null,
  n int not null check (n > 0),
  seq bigint generated always as identity,
  -- The transaction that wrote it: whoever watches reads only behind the oldest one still open.
  xid xid8 not null default pg_current_xact_id(),
  type text not null,
  at timestamptz not null,
  -- The exact text that `hash` names.
  body text not null,
  hash text not null,
  primary key (tenant_id, operation_id, n)
);
create index events_seq on events (tenant_id, seq);
create trigger events_immutable before update or delete on events
  for each row execute function writ_immutable();

create table receipts (
  tenant_id text not null,
  operation_id uuid not null,
  jws text not null,
  at timestamptz not null,
  primary key (tenant_id, operation_id)
);
create trigger receipts_immutable before update or delete on receipts
  for each row execute function writ_immutable();

-- Numbers, dates and chains the events of one commit. `drafts` holds {type, actor, data} where actor and data are JSON texts.
-- One row, whatever the number of events: `n` and `hash` are those of the last one.
create function writ_chain(last_n int, last_hash text, at timestamptz, drafts jsonb,
    out n int, out hash text, out types text[], out bodies text[], out hashes text[]) language plpgsql stable as $$
declare
  draft jsonb;
  type text;
  body text;
  time text := to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
begin
  n := last_n;
  hash := last_hash;
  for draft in select value from jsonb_array_elements(drafts) loop
    n := n + 1;
    type := draft ->> 'type';
    body := '{"n":' || n || ',"type":"' || type || '","at":"' || time || '","actor":' || (draft ->> 'actor') ||
            ',"data":' || (draft ->> 'data') || ',"prev":' || coalesce('"' || hash || '"', 'null') || '}';
    -- What core/digest.ts computes: base64url without padding of the SHA-256 over "writ.event.v1", a zero byte, and the text.
    hash := 'sha-256:' || translate(rtrim(encode(sha256('\x777269742e6576656e742e763100'::bytea || convert_to(body, 'UTF8')), 'base64'), '='), '+/', '-_');
    types := types || type;
    bodies := bodies || body;
    hashes := hashes || hash;
  end loop;
end $$;

-- Ends the transaction when an effect in our own database would be committed after its permission ended.
create function writ_require(holds boolean, what text) returns boolean language plpgsql immutable as $$
begin
  if not holds then
    raise exception '%', what using errcode = 'WR001';
  end if;
  return true;
end $$;
