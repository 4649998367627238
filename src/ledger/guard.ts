import { type Query, statement } from "../database/sql.ts";
import type { Opening } from "../service/ledger-port.ts";
import { askerOf, intentKeyItem, lookalikeItem } from "./opening.ts";

/**
 * The locks of one batch, always in this order: authority, intent keys, look-alikes (then operations, then the effects' own rows).
 * They are statements of their own: the next statement's snapshot then sees whatever their owners committed while we waited.
 */
const AUTHORITY = `
  with turn as materialized (
    select pg_advisory_xact_lock_shared(hashtextextended('writ.authority.' || t, 0)) from jsonb_array_elements_text($1::jsonb) t order by t)
  select count(*)::int as held from (
    select tenant_id from authority
    where (select count(*) from turn) > 0 and tenant_id in (select jsonb_array_elements_text($1::jsonb)) order by tenant_id for share
  ) a`;

/** Share locks of a row overlap for ever where many claim: whoever changes it would wait for a moment without any of them. */
const TURN = `select pg_advisory_xact_lock(hashtextextended('writ.authority.' || $1, 0))`;

const KEYS = `
  insert into intent_keys (tenant_id, principal_id, intent_key, operation_id, proposal_digest, content_digest)
  select tenant_id, principal_id, intent_key, id, proposal_digest, content_digest
  from jsonb_to_recordset($1::jsonb) as i(tenant_id text, principal_id text, intent_key text, id uuid, proposal_digest text, content_digest text)
  order by tenant_id, principal_id, intent_key
  on conflict do nothing`;

const LOOKALIKES = `
  insert into effect_guards as g (tenant_id, scope, effect_digest)
  select tenant_id, scope, effect_digest
  from jsonb_to_recordset($1::jsonb) as i(tenant_id text, scope text, effect_digest text)
  order by tenant_id, scope, effect_digest
  on conflict (tenant_id, scope, effect_digest) do update set passes = g.passes + 1`;

/** What is asked of people for one client is counted by one at a time: whoever comes second sees what the first left waiting. */
const ASKERS = `select pg_advisory_xact_lock(hashtextextended('writ.asking.' || i.asker, 0))
  from (select distinct value as asker from jsonb_array_elements_text($1::jsonb) order by value) i`;

/** Share-locks the authority rows: what was revoked or halted before this is seen, what comes later waits for us. */
export function lockAuthority(tenants: Iterable<string>): Query {
  return statement(AUTHORITY, [JSON.stringify([...new Set(tenants)])]);
}

/**
 * Puts who changes authority in line: whoever comes later waits behind it, so that a halt is never starved by claims. It is fairness
 * only: what makes a claim safe are the row's lock and its epoch.
 */
export function awaitTurn(tenantId: string): Query {
  return statement(TURN, [tenantId]);
}

/** One row for each intent key and each look-alike: whoever comes second waits here for the first. */
export function lockIntents(openings: readonly Opening[]): readonly Query[] {
  const keys = openings.flatMap((opening) => intentKeyItem(opening) ?? []);
  const lookalikes = openings.flatMap((opening) => lookalikeItem(opening) ?? []);
  const askers = openings.flatMap((opening) => askerOf(opening) ?? []);
  return [
    ...(keys.length === 0 ? [] : [statement(KEYS, [JSON.stringify(keys)])]),
    ...(lookalikes.length === 0 ? [] : [statement(LOOKALIKES, [JSON.stringify(lookalikes)])]),
    ...(askers.length === 0 ? [] : [statement(ASKERS, [JSON.stringify(askers)])]),
  ];
}
