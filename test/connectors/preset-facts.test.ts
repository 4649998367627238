import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Reply } from "../../src/connectors/exchange.ts";
import { cleaner } from "../../src/connectors/hygiene.ts";
import { outcomeOf, type Reading } from "../../src/connectors/match.ts";
import type { Contract } from "../../src/core/contract.ts";
import { parseContract } from "../../src/core/contract-parse.ts";

/** What is known of one operation of one provider: carried over as facts, without their texts. */
interface Row {
  readonly dedup: string;
  readonly retentionS: number | null;
  readonly after: "executes" | "refuses" | null;
  readonly mismatch: string;
  readonly precondition: string;
  readonly fails: readonly number[];
  readonly measuredAtomic: boolean;
  /** Whether finding nothing proves that there is nothing. */
  readonly absence: "true" | "conditional" | "false" | "unknown";
  readonly unverified: readonly string[];
}

const ROWS: Readonly<Record<string, Row>> = JSON.parse(
  readFileSync(new URL("contract-rows.json", import.meta.url), "utf8"),
);
const FOLDER = new URL("../../presets/", import.meta.url);
/** Ours: the simulated provider's, and the ledger's own database. */
const OURS = ["http/marker-lookup.yaml", "http/no-guarantees.yaml", "postgres-ledger.yaml"];
const NAMES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".yaml") && !OURS.includes(name),
);

interface Preset {
  /** The comment above the contract, as one line. */
  readonly head: string;
  readonly contract: Contract;
  readonly rows: readonly (readonly [id: string, row: Row | undefined])[];
}

function preset(name: string): Preset {
  const text = readFileSync(new URL(name, FOLDER), "utf8");
  const lines = text.split("\n");
  const head = lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith("#")),
    )
    .map((line) => line.slice(2));
  const joined = head.join(" ");
  const [, ids = ""] =
    /contracts\.json: ([a-z0-9_., ]+?)(?=\.? |\.?$)(?! ?[a-z0-9_]+\.[a-z])/.exec(joined) ?? [];
  const rows = ids.split(", ").map((id) => [id, ROWS[id]] as const);
  return { head: joined, contract: parseContract(parse(text)), rows };
}

/** The rows that say it too. */
function agreeing(name: string, agrees: (row: Row) => boolean): readonly string[] {
  return preset(name).rows.flatMap(([id, row]) => (row !== undefined && agrees(row) ? [id] : []));
}

describe.each(NAMES)("%s", (name) => {
  const { head, contract, rows } = preset(name);
  const { identity, precondition, lookup, outcomes } = contract;
  const all = rows.map(([id]) => id);

  test("names the rows that it rests on, its sources and when they were read", () => {
    expect(rows.filter(([, row]) => row === undefined)).toEqual([]);
    expect(head).toMatch(/source: \S+.*\b20\d\d-\d\d/i);
  });

  test("relies on nothing that is not verified, and says what that is", () => {
    const unverified = rows.flatMap(([, row]) => row?.unverified ?? []);

    expect(unverified.filter((fact) => !head.includes(fact))).toEqual([]);
    if (unverified.some((fact) => fact.includes("retention"))) expect(identity.kind).toBe("none");
    if (unverified.some((fact) => /concurrent|in-flight/.test(fact)))
      expect(outcomes.filter(({ is }) => is === "in_flight")).toEqual([]);
    if (unverified.some((fact) => fact.includes("mismatch")))
      expect(outcomes.filter(({ is }) => is === "mismatch")).toEqual([]);
  });

  test("remembers no longer than the provider does, and does not repeat where it forgets at once", () => {
    if (identity.kind === "none" || identity.kind === "same_version") return;
    const { forMs, after } = identity.window;
    const lasts = ({ dedup, retentionS }: Row) =>
      dedup === "txn_marker" || retentionS === -1 || (forMs !== null && forMs <= (retentionS ?? 0) * 1000);

    expect(agreeing(name, lasts).length).toBeGreaterThan(0);
    if (identity.kind === "key")
      expect(agreeing(name, (row) => row.after === null || row.after === after)).toEqual(all);
  });

  test("believes an absence only where it proves something", () => {
    if (lookup.every(({ strength }) => strength === "positive")) return;

    // Our own connectors look for the condition before they say "absent"; a template over HTTP cannot.
    const believes = contract.transport === "http" ? ["true"] : ["true", "conditional"];
    expect(agreeing(name, (row) => believes.includes(row.absence) || row.dedup === "txn_marker")).toEqual(
      all,
    );
  });

  test("sends the condition that the provider checks, and calls it measured only where it was", () => {
    if (precondition.kind === "none") return;

    expect(agreeing(name, (row) => row.precondition !== "none")).toEqual(all);
    if (precondition.atomic === "probed") expect(agreeing(name, (row) => row.measuredAtomic)).toEqual(all);
  });

  test("takes no 5xx, no timeout of a gateway and no redirect for an answer", () => {
    if (contract.transport !== "http") return;
    const meant = (status: number) => learned(contract, { status, headers: {}, at: 0 });

    expect([500, 502, 503, 504, 408, 307, 304].map(meant)).toEqual(Array(7).fill("lost"));
  });
});

function learned(contract: Contract, reply: Reply): string {
  return outcomeOf(contract, reply, 1, { bind: (text) => text, clean: cleaner([]) }).kind;
}

test("a preset that outlives its provider's memory would be noticed", () => {
  const { contract } = preset("http/idempotency-key.yaml");
  const claimed = contract.identity.kind === "key" ? (contract.identity.window.forMs ?? 0) : 0;

  expect(claimed).toBe((ROWS["zuora.post"]?.retentionS ?? 0) * 1000);
});

test.each([
  [
    "http/stripe-like.yaml",
    { status: 400, body: { error: { type: "idempotency_error" } } },
    "lost",
    "mismatch",
  ],
  ["http/stripe-like.yaml", { status: 409 }, "lost", undefined],
  ["http/stripe-like.yaml", { status: 429 }, "lost", undefined],
  ["http/natural-key-create.yaml", { status: 400, text: "PARTNER_ID_ALREADY_USED" }, "lost", "duplicate"],
  ["http/natural-key-create.yaml", { status: 400 }, "lost", undefined],
  ["http/natural-key-create.yaml", { status: 409 }, "lost", undefined],
  ["http/etcd.yaml", { status: 200, body: { header: {} } }, "refused", undefined],
  ["http/etcd.yaml", { status: 200 }, "lost", undefined],
  ["http/dynamodb-like.yaml", { status: 400, text: "…#TransactionCanceledException" }, "refused", undefined],
  ["http/dynamodb-like.yaml", { status: 400, text: "ThrottlingException" }, "lost", undefined],
  ["http/s3-conditional.yaml", { status: 412 }, "refused", undefined],
  ["http/s3-conditional.yaml", { status: 409 }, "lost", undefined],
  ["http/kubernetes.yaml", { status: 409 }, "refused", undefined],
  ["http/azure-repeatability.yaml", { status: 201 }, "lost", undefined],
  ["http/azure-repeatability.yaml", { status: 412 }, "refused", undefined],
  [
    "http/azure-repeatability.yaml",
    { status: 201, headers: { "repeatability-result": "accepted" } },
    "confirmed",
    undefined,
  ],
  ["http/alertmanager.yaml", { status: 200, body: { silenceID: "x" } }, "confirmed", undefined],
  ["http/alertmanager.yaml", { status: 200 }, "lost", undefined],
] as const)("%s understands %j as %s (%s)", (name, reply, kind, answer) => {
  const { contract } = preset(name);
  const reading: Reading = { bind: (text) => text, clean: cleaner([]) };

  const outcome = outcomeOf(contract, { headers: {}, at: 0, ...reply }, 1, reading);

  expect(outcome).toMatchObject({ kind, ...(answer === undefined ? {} : { answer }) });
  if (answer === undefined && outcome.kind === "lost") expect(outcome.answer).toBeUndefined();
});
