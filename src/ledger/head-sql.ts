import { type Query, statement } from "../database/sql.ts";

const LOCKED = `locked as materialized (
    select o.tenant_id, o.id, o.revision, o.state, o.expires_at, o.event_count, o.event_hash, jsonb_array_length(o.attempts) as tried
    from operations o join item i on o.tenant_id = i.tenant_id and o.id = i.id order by o.tenant_id, o.id for update of o),
  -- The clock is read after every lock was had: a wait may have passed a deadline.
  clock as materialized (select writ_clock() as at from (select count(*) from locked) waited)`;

const LOGGED = `link as materialized (select r.ord, e.n, e.type, e.body, e.hash from ready r cross join lateral writ_chain(r.event_count, r.event_hash, r.at, r.events) e),
  tip as (select distinct on (ord) ord, n, hash from link order by ord, n desc),
  logged as (
    insert into events (tenant_id, operation_id, n, type, at, body, hash)
    select r.tenant_id, r.id, l.n, l.type, r.at, l.body, l.hash from link l join ready r using (ord) order by r.tenant_id, r.id, l.n)`;

/** Moves to executing over the expected revision and under the expected epoch, numbers the attempt, grants the lease. */
const CLAIM = `with item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(
    ord int, tenant_id text, id uuid, revision int, epoch bigint, claim jsonb, lease_ms bigint, permission jsonb, events jsonb)),
  ${LOCKED},
  judged as materialized (
    select i.*, l.event_count, l.event_hash, l.tried, clock.at, a.epoch as epoch_now,
      case when l.id is null or l.revision <> i.revision then 'changed'
           when a.epoch is distinct from i.epoch then 'stale_authority'
           when l.expires_at <= clock.at then 'expired'
           else 'claimed' end as verdict
    from item i cross join clock
    left join locked l on l.tenant_id = i.tenant_id and l.id = i.id
    left join authority a on a.tenant_id = i.tenant_id),
  ready as materialized (select * from judged where verdict = 'claimed'),
  ${LOGGED},
  moved as (
    update operations o set state = 'executing', revision = o.revision + 1, permission = coalesce(r.permission, o.permission),
      attempts = o.attempts || jsonb_build_array(r.claim || jsonb_build_object(
        'n', r.tried + 1, 'claimedAt', writ_ms(r.at), 'leaseUntil', writ_ms(r.at) + r.lease_ms)),
      due_at = r.at + r.lease_ms * interval '1 ms', updated_at = r.at, attention = null, event_count = t.n, event_hash = t.hash
    from ready r join tip t using (ord)
    where o.tenant_id = r.tenant_id and o.id = r.id and o.revision = r.revision
    returning r.ord, o.revision)
  select j.ord, case when j.verdict = 'claimed' and m.ord is null then 'changed' else j.verdict end as verdict,
    m.revision, j.epoch_now as epoch, writ_ms(j.at) as at_ms
  from judged j left join moved m using (ord) order by j.ord`;

/** Writes new heads over their expected revisions, with their events and receipts. */
const RECORD = `with item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(
    ord int, tenant_id text, id uuid, revision int, state text, reason text, attempts jsonb, inquiry jsonb, evidence jsonb, current_version text,
    attention text, permission jsonb, authorized_ms bigint, expires_ms bigint, due_ms bigint, events jsonb, receipt text, fresh_until_ms bigint)),
  ${LOCKED},
  ready as materialized (
    select i.*, l.event_count, l.event_hash, clock.at from item i cross join clock
    join locked l on l.tenant_id = i.tenant_id and l.id = i.id and l.revision = i.revision
    where writ_require(i.fresh_until_ms is null or clock.at < writ_at(i.fresh_until_ms), 'the permission ended before the commit')),
  ${LOGGED},
  moved as (
    update operations o set revision = o.revision + 1, state = r.state, reason = r.reason, attempts = r.attempts, inquiry = r.inquiry,
      evidence = r.evidence, current_version = r.current_version, attention = r.attention, permission = r.permission,
      authorized_at = writ_at(r.authorized_ms), expires_at = coalesce(writ_at(r.expires_ms), o.expires_at), due_at = writ_at(r.due_ms),
      updated_at = r.at, settled_at = coalesce(o.settled_at, case when r.state in ('succeeded', 'rejected') then r.at end),
      event_count = t.n, event_hash = t.hash
    from ready r join tip t using (ord)
    where o.tenant_id = r.tenant_id and o.id = r.id and o.revision = r.revision
    returning r.ord, o.revision, writ_ms(o.updated_at) as at_ms, writ_ms(o.settled_at) as settled_ms),
  kept as (
    insert into receipts (tenant_id, operation_id, jws, at)
    select tenant_id, id, receipt, at from ready where receipt is not null order by tenant_id, id)
  select i.ord, m.revision, m.at_ms, m.settled_ms from item i left join moved m using (ord) order by i.ord`;

export interface ClaimRow {
  readonly ord: number;
  readonly verdict: "claimed" | "changed" | "stale_authority" | "expired";
  readonly revision: number | null;
  readonly epoch: number;
  readonly at_ms: number;
}
export interface RecordRow {
  readonly ord: number;
  readonly revision: number | null;
  readonly at_ms: number | null;
  readonly settled_ms: number | null;
}

export const claimQuery = (items: string): Query => statement(CLAIM, [items]);
export const recordQuery = (items: string): Query => statement(RECORD, [items]);
