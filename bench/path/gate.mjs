// The count that goes with the numbers: an operation that was answered, stored or performed once too often or too seldom makes them worthless.
import { verifyReceipt } from "../../dist/identity/receipts.js";
import { EXTERNAL_TOOL, LOCAL_TOOL } from "./offer.mjs";
import { ask } from "./server.mjs";

const SIGNATURES = 200;

/** Effects where they happened, receipts in the ledger, answers at the callers: for one candidate, by kind. */
export async function counted({ name, url, jwks, answers, effects }) {
  const [stock] = await ask(url, "select coalesce(sum(version - 1), 0)::float8 as effects from inventory");
  const kinds = [
    { kind: "local", tool: LOCAL_TOOL, effects: stock.effects },
    { kind: "external", tool: EXTERNAL_TOOL, effects },
  ];
  return Promise.all(
    kinds.map(async ({ kind, tool, effects: performed }) => {
      const receipts = await receiptsOf(url, tool, jwks);
      const holds =
        performed === receipts.succeeded &&
        receipts.succeeded === answers[kind] &&
        receipts.wrong === undefined;
      return {
        name,
        kind,
        effects: performed,
        receipts: receipts.succeeded,
        answers: answers[kind],
        holds,
        wrong: receipts.wrong,
      };
    }),
  );
}

async function receiptsOf(url, tool, jwks) {
  const of = `from operations o join receipts r on r.tenant_id = o.tenant_id and r.operation_id = o.id
    where o.tool = '${tool}' and o.state = 'succeeded'`;
  const [{ n }] = await ask(url, `select count(*)::float8 as n ${of}`);
  const sample = await ask(url, `select o.id, r.jws ${of} order by random() limit ${SIGNATURES}`);
  const wrong = sample.map(({ id, jws }) => mistakeIn(id, jws, jwks)).find((word) => word !== undefined);
  return { succeeded: n, wrong };
}

function mistakeIn(id, jws, jwks) {
  const verdict = verifyReceipt(jws, jwks);
  if (!verdict.ok) return `the receipt of ${id}: ${verdict.why}`;
  const { operationId, state } = verdict.claims;
  if (operationId === `op_${id.replaceAll("-", "")}` && state === "succeeded") return undefined;
  return `the receipt of ${id} says ${state} of ${operationId}`;
}

/** Bytes of the rows of one operation, as PostgreSQL stores them. */
export async function rowBytes(url) {
  const tables = ["operations", "events", "receipts", "intent_keys", "effect_guards"];
  const sums = tables.map((table) => `(select sum(pg_column_size(t.*)) from ${table} t)`);
  const [{ bytes }] = await ask(
    url,
    `select (${sums.join(" + ")})::float8 / (select count(*) from operations) as bytes`,
  );
  return bytes;
}
