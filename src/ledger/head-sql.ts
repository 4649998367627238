import { type Query, statement } from "../database/sql.ts";

/** The rows of the items, locked in key order, each with its item; an item whose row is not there is missing here. */
const LOCKED = `locked as materialized (
    select i.*, o.revision as revision_now, o.expires_at as expires_now, o.event_count as last_n, o.event_hash as last_hash,
      jsonb_array_length(o.attempts) as tried
    from operations o join item i on o.tenant_id = i.tenant_id and o.id = i.id order by o.tenant_id, o.id for update of o),
  -- The clock is read after every lock was had: a wait may have passed a deadline.
  clock as materialized (select writ_clock() as at from (select count(*) from locked) waited)`;

const LOGGED = `logged as (
    insert into events (tenant_id, operation_id, n, type, at, body, hash)
    select r.tenant_id, r.id, r.last_n + e.k, e.type, r.at, e.body, e.hash
    from ready r cross join lateral unnest(r.types, r.bodies, r.hashes) with ordinality as e(type, body, hash, k) order by r.tenant_id, r.id, e.k)`;

/** Moves to executing over the expected revision and under the expected epoch, numbers the attempt, grants the lease. What has no row in the answer was moved by somebody else. */
const CLAIM = `with item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(
    ord int, tenant_id text, id uuid, revision int, epoch bigint, claim jsonb, lease_ms bigint, permission jsonb, draws int, events jsonb)),
  ${LOCKED},
  judged as materialized (
    select i.*, clock.at, a.epoch as epoch_now,
      case when a.epoch is distinct from i.epoch then 'stale_authority'
           when i.expires_now <= clock.at then 'expired'
           when i.draws > (select count(*) from reservations r where r.tenant_id = i.tenant_id and r.operation_id = i.id) then 'limit_reached'
           else 'claimed' end as verdict
    from locked i cross join clock left join authority a on a.tenant_id = i.tenant_id
    where i.revision_now = i.revision),
  -- What was reserved a statement ago for a claim that is not made, unless an earlier claim holds it.
  given_back as (
    delete from reservations r using judged j
    where j.draws is not null and j.verdict <> 'claimed' and j.tried = 0 and r.tenant_id = j.tenant_id and r.operation_id = j.id),
  ready as materialized (
    select j.*, c.* from judged j cross join lateral writ_chain(j.last_n, j.last_hash, j.at, j.events) c where j.verdict = 'claimed'),
  ${LOGGED},
  moved as (
    update operations o set state = 'executing', revision = o.revision + 1, permission = coalesce(r.permission, o.permission),
      attempts = o.attempts || jsonb_build_array(r.claim || jsonb_build_object(
        'n', r.tried + 1, 'claimedAt', writ_ms(r.at), 'leaseUntil', writ_ms(r.at) + r.lease_ms)),
      due_at = r.at + r.lease_ms * interval '1 ms', updated_at = r.at, attention = null, event_count = r.n, event_hash = r.hash
    from ready r where o.tenant_id = r.tenant_id and o.id = r.id and o.revision = r.revision
    returning r.ord, r.verdict, o.revision, r.epoch_now as epoch, writ_ms(r.at) as at_ms)
  select * from moved
  union all
  select ord, verdict, null, epoch_now, writ_ms(at) from judged where verdict <> 'claimed'`;

/** Writes new heads over their expected revisions, with their events and receipts. What has no row in the answer was moved by somebody else. */
const RECORD = `with item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(
    ord int, tenant_id text, id uuid, revision int, state text, reason text, attempts jsonb, inquiry jsonb, evidence jsonb, current_version text,
    attention text, permission jsonb, review jsonb, authorized_ms bigint, expires_ms bigint, due_ms bigint, events jsonb, receipt text, fresh_until_ms bigint)),
  ${LOCKED},
  ready as materialized (
    select i.*, clock.at, c.* from locked i cross join clock cross join lateral writ_chain(i.last_n, i.last_hash, clock.at, i.events) c
    where i.revision_now = i.revision
      and writ_require(i.fresh_until_ms is null or clock.at < writ_at(i.fresh_until_ms), 'the permission ended before the commit')),
  ${LOGGED},
  moved as (
    update operations o set revision = o.revision + 1, state = r.state, reason = r.reason, attempts = r.attempts, inquiry = r.inquiry,
      evidence = r.evidence, current_version = r.current_version, attention = r.attention, permission = r.permission, review = r.review,
      authorized_at = writ_at(r.authorized_ms), expires_at = coalesce(writ_at(r.expires_ms), o.expires_at), due_at = writ_at(r.due_ms),
      updated_at = r.at, settled_at = coalesce(o.settled_at, case when r.state in ('succeeded', 'rejected') then r.at end),
      event_count = r.n, event_hash = r.hash
    from ready r where o.tenant_id = r.tenant_id and o.id = r.id and o.revision = r.revision
    returning r.ord, o.revision, writ_ms(o.updated_at) as at_ms, writ_ms(o.settled_at) as settled_ms),
  kept as (
    insert into receipts (tenant_id, operation_id, jws, at)
    select tenant_id, id, receipt, at from ready where receipt is not null order by tenant_id, id)
  select * from moved`;

export interface ClaimRow {
  readonly ord: number;
  readonly verdict: "claimed" | "stale_authority" | "expired" | "limit_reached";
  readonly revision: number | null;
  readonly epoch: number;
  readonly at_ms: number;
}
export interface RecordRow {
  readonly ord: number;
  readonly revision: number;
  readonly at_ms: number;
  readonly settled_ms: number | null;
}

export const claimQuery = (items: string): Query => statement(CLAIM, [items]);
export const recordQuery = (items: string): Query => statement(RECORD, [items]);
