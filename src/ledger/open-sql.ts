import { type Query, statement } from "../database/sql.ts";

const ITEM = `item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(
    ord int, tenant_id text, id uuid, epoch bigint, state text, reason text, tool text, tool_digest text, provider text, resource text,
    principal_id text, client_id text, intent_key text, proposal_digest text, content_digest text, action text, digest text,
    effect_digest text, scope text, same_principal boolean, window_ms bigint, expected_version text, compensates uuid, supersedes uuid,
    execute text, note text, permission jsonb, permission_for_ms bigint, review_for_ms bigint, claim jsonb, lease_ms bigint, at_ms bigint,
    attempts jsonb, inquiry jsonb, evidence jsonb, current_version text, attention text, due_ms bigint, events jsonb, links jsonb,
    event_count int, event_hash text, receipt text, fresh_until_ms bigint))`;

/** What deciding needs to know; the rest of an item is only for storing. */
const CANDIDATE = `item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(
    ord int, tenant_id text, id uuid, epoch bigint, principal_id text, intent_key text, proposal_digest text, content_digest text,
    effect_digest text, scope text, same_principal boolean, window_ms bigint, compensates uuid, supersedes uuid, at_ms bigint))`;

const CLOCK = `clock as materialized (select writ_clock() as at)`;

/** The table of section 10 of the protocol, decided under the locks of guard.ts. */
const ADMITTED = `admitted as materialized (
    select i.ord,
      case
        when mine.id is not null then 'mine'
        when k.operation_id <> i.id and known.id is null then 'key_spent'
        when k.operation_id <> i.id and (k.proposal_digest = i.proposal_digest or k.content_digest = i.content_digest) then 'replayed'
        when k.operation_id <> i.id then 'key_reused'
        when a.epoch is distinct from i.epoch then 'stale_authority'
        when i.compensates is not null and c.state is distinct from 'succeeded' then 'not_settled'
        when twin.id is not null and i.intent_key is not null then 'equal_effect_in_doubt'
        when twin.id is not null and twin.settled then 'looks_the_same'
        when twin.id is not null and twin.principal_id = i.principal_id then 'joined'
        when twin.id is not null then 'equal_effect_in_doubt'
        else 'open'
      end as verdict,
      case when k.operation_id <> i.id then k.operation_id
           when twin.principal_id = i.principal_id then twin.id end as other, a.epoch
    from item i
    cross join clock
    left join authority a on a.tenant_id = i.tenant_id
    left join operations mine on mine.tenant_id = i.tenant_id and mine.id = i.id
    left join intent_keys k on k.tenant_id = i.tenant_id and k.principal_id = i.principal_id and k.intent_key = i.intent_key
    left join operations known on known.tenant_id = k.tenant_id and known.id = k.operation_id
    left join operations c on c.tenant_id = i.tenant_id and c.id = i.compensates
    left join lateral (
      select o.id, o.principal_id, o.settled_at is not null as settled from operations o
      where i.scope is not null and o.tenant_id = i.tenant_id and o.effect_digest = i.effect_digest and o.id <> i.id
        and (not i.same_principal or o.principal_id = i.principal_id)
        and o.id is distinct from i.supersedes and o.id is distinct from i.compensates
        and case when i.intent_key is not null then o.state in ('executing', 'unknown')
                 else o.settled_at is null or (o.state = 'succeeded' and o.settled_at > clock.at - i.window_ms * interval '1 ms') end
      order by o.settled_at is not null, o.id limit 1) twin on true)`;

const EVERYTHING = `admitted as materialized (select ord, 'open' as verdict, null::uuid as other, epoch from item)`;

/** The moment that the item's own times count from: given, when the claim was made in an earlier statement of this transaction. */
const READY = `ready as materialized (
    select i.*, coalesce(writ_at(i.at_ms), clock.at) as at, clock.at as stored_at
    from item i join admitted a using (ord) cross join clock
    where a.verdict = 'open' and writ_require(i.fresh_until_ms is null or clock.at < writ_at(i.fresh_until_ms), 'the permission ended before the commit'))`;

/** Events are numbered, dated and chained by the database ... */
const CHAINED = `link as materialized (select r.ord, r.tenant_id, r.id, r.stored_at as at, e.n, e.type, e.body, e.hash
    from ready r cross join lateral writ_chain(0, null, r.stored_at, r.events) e),
  tip as (select distinct on (ord) ord, n, hash from link order by ord, n desc)`;
/** ... or were by us, when the moment was already known. */
const LINKED = `link as materialized (select r.ord, r.tenant_id, r.id, r.at, e.n, e.type, e.body, e.hash
    from ready r cross join lateral jsonb_to_recordset(r.links) as e(n int, type text, body text, hash text)),
  tip as (select ord, event_count as n, event_hash as hash from ready)`;

const STORED = `stored as (
    insert into operations (tenant_id, id, revision, state, reason, tool, tool_digest, provider, resource, principal_id, client_id, intent_key,
      action, digest, effect_digest, expected_version, compensates, supersedes, execute, note, permission, authorized_at, expires_at, attempts,
      inquiry, evidence, current_version, attention, event_count, event_hash, due_at, created_at, updated_at, settled_at)
    select r.tenant_id, r.id, 1, r.state, r.reason, r.tool, r.tool_digest, r.provider, r.resource, r.principal_id, r.client_id, r.intent_key,
      r.action, r.digest, r.effect_digest, r.expected_version, r.compensates, r.supersedes, r.execute, r.note, r.permission,
      case when r.permission is not null then r.at end,
      r.at + case when r.permission is not null then r.permission_for_ms else r.review_for_ms end * interval '1 ms',
      coalesce(r.attempts, case when r.claim is null then '[]'::jsonb else jsonb_build_array(r.claim || jsonb_build_object(
        'n', 1, 'claimedAt', writ_ms(r.at), 'leaseUntil', writ_ms(r.at) + r.lease_ms)) end),
      r.inquiry, r.evidence, r.current_version, r.attention, t.n, t.hash,
      case r.state
        when 'executing' then r.at + r.lease_ms * interval '1 ms'
        when 'proposed' then r.at + r.review_for_ms * interval '1 ms'
        when 'authorized' then coalesce(writ_at(r.due_ms), r.at + case when r.execute = 'now' then 0 else r.permission_for_ms end * interval '1 ms')
        when 'unknown' then writ_at(r.due_ms)
      end,
      r.at, r.stored_at, case when r.state in ('succeeded', 'rejected') then r.stored_at end
    from ready r join tip t using (ord)
    order by r.tenant_id, r.id
    returning tenant_id, id),
  logged as (
    insert into events (tenant_id, operation_id, n, type, at, body, hash)
    select tenant_id, id, n, type, at, body, hash from link order by tenant_id, id, n),
  kept as (
    insert into receipts (tenant_id, operation_id, jws, at)
    select tenant_id, id, receipt, stored_at from ready where receipt is not null order by tenant_id, id)`;

/** Nothing of a refused proposal stays: its key was taken by the lock a statement ago. */
const RELEASED = `released as (
    delete from intent_keys k using item i join admitted a using (ord)
    where a.verdict not in ('open', 'mine') and k.tenant_id = i.tenant_id and k.principal_id = i.principal_id
      and k.intent_key = i.intent_key and k.operation_id = i.id)`;

const ANSWER = `select i.ord, a.verdict, a.other, a.epoch, writ_ms(coalesce(writ_at(i.at_ms), clock.at)) as at_ms, writ_ms(clock.at) as stored_ms
  from item i join admitted a using (ord) cross join clock order by i.ord`;

/** Decides and stores in one statement: for operations whose effect is elsewhere, or later, or never. */
const OPEN = `with ${ITEM}, ${CLOCK}, ${ADMITTED}, ${READY}, ${CHAINED}, ${STORED}, ${RELEASED} ${ANSWER}`;

/** Only decides: the effect in our own database comes between this and `STORE`, in the same transaction. */
const ADMIT = `with ${CANDIDATE}, ${CLOCK}, ${ADMITTED}, ${RELEASED} ${ANSWER}`;

/** Only stores what was admitted. A row that is there already ends the transaction, and the effect with it. */
const STORE = `with ${ITEM}, ${CLOCK}, ${EVERYTHING}, ${READY}, ${LINKED}, ${STORED} ${ANSWER}`;

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
    | "equal_effect_in_doubt";
  readonly other: string | null;
  readonly epoch: number;
  /** The moment the item's times count from. */
  readonly at_ms: number;
  /** The moment of this very statement. */
  readonly stored_ms: number;
}

export const openQuery = (items: string): Query => statement(OPEN, [items]);
export const admitQuery = (items: string): Query => statement(ADMIT, [items]);
export const storeQuery = (items: string): Query => statement(STORE, [items]);
