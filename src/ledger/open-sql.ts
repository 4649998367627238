import { type Query, statement } from "../database/sql.ts";

/** What deciding needs to know. */
const CANDIDATE = `ord int, tenant_id text, id uuid, epoch bigint, principal_id text, intent_key text, proposal_digest text, content_digest text,
    effect_digest text, scope text, compensates uuid, supersedes uuid, ends_ms bigint, draws int, asker text, asking_max int`;

/** What storing needs to know beside that, whether the effect is still to come or was just performed. */
const STORED_PART = `state text, reason text, tool text, tool_digest text, provider text, resource text, client_id text, action text, digest text,
    expected_version text, execute text, note text, permission jsonb, review jsonb, inquiry jsonb, receipt text`;

/** Members that an item leaves out are null: what is not sent is not parsed. */
const OPENING = `item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(${CANDIDATE}, ${STORED_PART},
    claim jsonb, lease_ms bigint, lasts_ms bigint, due_in_ms bigint, events jsonb))`;
const CANDIDATES = `item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(${CANDIDATE}))`;
const SETTLED = `item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(ord int, tenant_id text, id uuid, principal_id text,
    intent_key text, effect_digest text, compensates uuid, supersedes uuid, ${STORED_PART}, attempts jsonb, evidence jsonb, current_version text,
    attention text, at_ms bigint, authorized_ms bigint, expires_ms bigint, due_ms bigint, event_count int, event_hash text, fresh_until_ms bigint))`;

const CLOCK = `clock as materialized (select writ_clock() as at)`;

/** The table of section 10 of the protocol, decided under the locks of guard.ts. Equal effects that settled over ten minutes ago are two intents. */
const ADMITTED = `admitted as materialized (
    select i.*, clock.at, a.epoch as epoch_now,
      case
        when mine.id is not null then 'mine'
        when k.operation_id <> i.id and known.id is null then 'key_spent'
        when k.operation_id <> i.id and (k.proposal_digest = i.proposal_digest or k.content_digest = i.content_digest) then 'replayed'
        when k.operation_id <> i.id then 'key_reused'
        when a.epoch is distinct from i.epoch then 'stale_authority'
        -- What it rests on has ended by this clock: to be decided again by it.
        when writ_at(i.ends_ms) <= clock.at then 'stale_authority'
        when i.compensates is not null and c.state is distinct from 'succeeded' then 'not_settled'
        when twin.id is not null and i.intent_key is not null then 'equal_effect_in_doubt'
        when twin.id is not null and twin.settled then 'looks_the_same'
        when twin.id is not null and twin.principal_id = i.principal_id then 'joined'
        when twin.id is not null then 'equal_effect_in_doubt'
        when i.draws > (select count(*) from reservations r where r.tenant_id = i.tenant_id and r.operation_id = i.id) then 'limit_reached'
        when i.asking_max is not null and i.asking_max <= (
          select count(*) from operations o where o.tenant_id = i.tenant_id and o.client_id = i.asker and o.state = 'proposed'
            and o.expires_at > clock.at and o.id is distinct from i.supersedes) then 'too_many_waiting'
        else 'open'
      end as verdict,
      case when k.operation_id <> i.id then k.operation_id
           when twin.principal_id = i.principal_id then twin.id end as other
    from item i
    cross join clock
    left join authority a on a.tenant_id = i.tenant_id
    left join operations mine on mine.tenant_id = i.tenant_id and mine.id = i.id
    left join intent_keys k on k.tenant_id = i.tenant_id and k.principal_id = i.principal_id and k.intent_key = i.intent_key
    left join operations known on known.tenant_id = k.tenant_id and known.id = k.operation_id
    left join operations c on c.tenant_id = i.tenant_id and c.id = i.compensates and c.principal_id = i.principal_id
    left join lateral (
      select o.id, o.principal_id, o.settled_at is not null as settled from operations o
      where i.scope is not null and o.tenant_id = i.tenant_id and o.effect_digest = i.effect_digest and o.id <> i.id
        and (i.scope = '' or o.principal_id = i.principal_id)
        and o.id is distinct from i.supersedes and o.id is distinct from i.compensates
        and case when i.intent_key is not null then o.state in ('executing', 'unknown')
                 else o.settled_at is null or (o.state = 'succeeded' and o.settled_at > clock.at - interval '10 minutes') end
      order by o.settled_at is not null, o.id limit 1) twin on true)`;

/** Its times count from this statement; its events are numbered, dated and chained by the database. */
const OPENED = `ready as materialized (
    select a.*, a.at as stored_at, case when a.permission is not null then a.at end as authorized_at,
      least(a.at + a.lasts_ms * interval '1 ms', writ_at(a.ends_ms)) as expires_at,
      least(a.at + a.due_in_ms * interval '1 ms', writ_at(a.ends_ms)) as due_at,
      case when a.claim is null then '[]'::jsonb else jsonb_build_array(a.claim || jsonb_build_object(
        'n', 1, 'claimedAt', writ_ms(a.at), 'leaseUntil', writ_ms(a.at) + a.lease_ms)) end as attempts,
      null::jsonb as evidence, null::text as current_version, null::text as attention,
      c.n as event_count, c.hash as event_hash, c.types, c.bodies, c.hashes
    from admitted a cross join lateral writ_chain(0, null, a.at, a.events) c where a.verdict = 'open'),
  logged as (
    insert into events (tenant_id, operation_id, n, type, at, body, hash)
    select r.tenant_id, r.id, e.n, e.type, r.at, e.body, e.hash
    from ready r cross join lateral unnest(r.types, r.bodies, r.hashes) with ordinality as e(type, body, hash, n) order by r.tenant_id, r.id, e.n)`;

/** Its moment was given by the admission, so its events come as texts, already chained. */
const PERFORMED = `ready as materialized (
    select i.*, writ_at(i.at_ms) as at, clock.at as stored_at, writ_at(i.authorized_ms) as authorized_at, writ_at(i.expires_ms) as expires_at,
      writ_at(i.due_ms) as due_at
    from item i cross join clock
    where writ_require(i.fresh_until_ms is null or clock.at < writ_at(i.fresh_until_ms), 'the permission ended before the commit')),
  logged as (
    insert into events (tenant_id, operation_id, n, type, at, body, hash)
    select e.tenant_id, e.id, e.n, e.type, writ_at(e.at_ms), e.body, e.hash
    from jsonb_to_recordset($2::jsonb) as e(tenant_id text, id uuid, n int, type text, at_ms bigint, body text, hash text) order by e.tenant_id, e.id, e.n)`;

const STORED = `stored as (
    insert into operations (tenant_id, id, revision, state, reason, tool, tool_digest, provider, resource, principal_id, client_id, intent_key,
      action, digest, effect_digest, expected_version, compensates, supersedes, execute, note, permission, review, authorized_at, expires_at, attempts,
      inquiry, evidence, current_version, attention, event_count, event_hash, due_at, created_at, updated_at, settled_at)
    select tenant_id, id, 1, state, reason, tool, tool_digest, provider, resource, principal_id, client_id, intent_key,
      action, digest, effect_digest, expected_version, compensates, supersedes, execute, note, permission, review, authorized_at, expires_at, attempts,
      inquiry, evidence, current_version, attention, event_count, event_hash, due_at, at, stored_at,
      case when state in ('succeeded', 'rejected') then stored_at end
    from ready order by tenant_id, id),
  kept as (
    insert into receipts (tenant_id, operation_id, jws, at)
    select tenant_id, id, receipt, stored_at from ready where receipt is not null order by tenant_id, id)`;

/** Nothing of a refused proposal stays: its key was taken by the lock, and its room in the limits reserved, a statement ago. */
const RELEASED = `given_back as (
    delete from reservations r using admitted a
    where a.draws is not null and a.verdict not in ('open', 'mine') and r.tenant_id = a.tenant_id and r.operation_id = a.id),
  released as (
    delete from intent_keys k using admitted a
    where a.verdict not in ('open', 'mine') and k.tenant_id = a.tenant_id and k.principal_id = a.principal_id
      and k.intent_key = a.intent_key and k.operation_id = a.id)`;

const VERDICTS = `select ord, verdict, other, epoch_now as epoch, writ_ms(at) as at_ms from admitted order by ord`;

/** Decides and stores in one statement: for operations whose effect is elsewhere, or later, or never. */
const OPEN = `with ${OPENING}, ${CLOCK}, ${ADMITTED}, ${OPENED}, ${STORED}, ${RELEASED} ${VERDICTS}`;

/** Only decides: the effect in our own database comes between this and `STORE`, in the same transaction. */
const ADMIT = `with ${CANDIDATES}, ${CLOCK}, ${ADMITTED}, ${RELEASED} ${VERDICTS}`;

/** Only stores what was admitted. A row that is there already ends the transaction, and the effect with it. */
const STORE = `with ${SETTLED}, ${CLOCK}, ${PERFORMED}, ${STORED} select ord, writ_ms(stored_at) as stored_ms from ready order by ord`;

export interface Admission {
  readonly ord: number;
  readonly verdict:
    | "open"
    | "mine"
    | "replayed"
    | "key_spent"
    | "key_reused"
    | "stale_authority"
    | "not_settled"
    | "looks_the_same"
    | "joined"
    | "equal_effect_in_doubt"
    | "limit_reached"
    | "too_many_waiting";
  readonly other: string | null;
  readonly epoch: number;
  /** The moment the item's times count from. */
  readonly at_ms: number;
}

export interface Stored {
  readonly ord: number;
  /** The moment of the storing statement. */
  readonly stored_ms: number;
}

export const openQuery = (items: string): Query => statement(OPEN, [items]);
export const admitQuery = (items: string): Query => statement(ADMIT, [items]);
export const storeQuery = (items: string, events: string): Query => statement(STORE, [items, events]);
