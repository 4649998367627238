import { describe, expect, onTestFinished, test } from "vitest";
import type { Guarantees } from "../../src/connectors/simulated/guarantees.ts";
import { type Simulated, startSimulated } from "../../src/connectors/simulated/provider.ts";
import type { Contract } from "../../src/core/contract.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { Probe } from "../../src/core/probe.ts";
import { Problem } from "../../src/core/problem.ts";
import { living, preset } from "../connectors/errand.ts";
import { movableClock } from "../support/clock.ts";
import { probing, TOOL, verdicts } from "../support/probing.ts";

const ETAG = (changes: JsonObject = {}): Contract =>
  preset("http/etag-document", {
    ...living("5s"),
    precondition: { kind: "etag", atomic: "claimed", versions: "never_return", replay: "precondition_first" },
    identity: { kind: "none" },
    ...changes,
  });
const MAIN = { resource: { type: "Item", id: "main/{item}", parents: [] } };

async function shop(guarantees: Guarantees): Promise<Simulated> {
  const provider = await startSimulated({ guarantees });
  onTestFinished(() => provider.close());
  // Documents live in a warehouse, orders name their item.
  for (const item of ["main/scratch", "main/bolt", "scratch"]) provider.setItem(item, 20);
  return provider;
}

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const problem: unknown = await work.catch((error: unknown) => error);
  if (problem instanceof Problem) return problem;
  throw new Error(`this was expected to be refused: ${JSON.stringify(problem)}`);
}

describe("a claim that was measured false", () => {
  test("closes the tool: nothing is stored, nothing is sent, and the sentence names the claim", async () => {
    const provider = await shop({ etag: "ignored", marker: true });
    const { here, found } = await probing(provider.url, ETAG(), { available: "{n}" }, MAIN);
    const before = provider.requests().length;

    const problem = await problemOf(
      here.ask({ item: "bolt", available: 3 }, { tool: TOOL, version: '"v1"' }),
    );

    expect(found.verdict).toBe("broken");
    expect(problem.code).toBe("tool_closed");
    expect(problem.message).toBe(
      `${TOOL} is closed: a write with an old version was accepted: the provider ignores the precondition`,
    );
    expect(await here.run("select count(*)::int as n from operations")).toEqual([{ n: 0 }]);
    expect(provider.requests()).toHaveLength(before);
  });

  test("raises the epoch in its own commit, and stops what was authorized before, until a new probe says otherwise", async () => {
    const provider = await shop({ etag: "strong", marker: true });
    const { here, found } = await probing(provider.url, ETAG(), { available: "{n}" }, { ...MAIN, rounds: 2 });
    const { tenantId } = here.session;
    const clock = await movableClock(here);
    const first = await here.ask(
      { item: "bolt", available: 3 },
      { tool: TOOL, version: '"v1"', execute: "later", key: "k1" },
    );
    const { epoch } = await here.ledger.authority(tenantId);

    await here.ledger.keepProbe(tenantId, broken(found), "ops");
    const after = await here.ledger.authority(tenantId);
    await here.run("update operations set execute = 'now', due_at = writ_now()");
    const closed = await here.step(first.operation);
    const known = await here.ask({ item: "bolt", available: 3 }, { tool: TOOL, version: '"v1"', key: "k1" });
    await here.ledger.keepProbe(tenantId, found, "ops");
    await clock.ahead(6_000);
    const open = await here.step(closed);

    expect(after.epoch).toBe(epoch + 1);
    expect(closed.state).toBe("authorized");
    expect(known).toMatchObject({ how: "replayed" });
    expect(open.state).toBe("succeeded");
    expect(provider.effectsOf(first.operation.id)).toHaveLength(1);
  });

  test("is kept for ever, beside who measured it", async () => {
    const provider = await shop({ etag: "ignored", marker: true });
    const { here } = await probing(provider.url, ETAG(), { available: "{n}" }, MAIN);

    expect(await here.run("select n, verdict, actor from probes")).toEqual([
      { n: 1, verdict: "broken", actor: "ops" },
    ]);
    await expect(here.run("update probes set verdict = 'holds'")).rejects.toThrow();
    expect(await here.run("select type from authority_events order by epoch desc limit 1")).toEqual([
      { type: "probed" },
    ]);
  });
});

test("another definition or other settings are another tool: what was measured of one says nothing of the other", async () => {
  const provider = await shop({ etag: "strong", marker: true });
  const { here, found } = await probing(provider.url, ETAG(), { available: "{n}" }, { ...MAIN, rounds: 1 });
  for (const other of [{ toolDigest: "sha-256:other" }, { settingsDigest: "sha-256:other" }])
    await here.ledger.keepProbe(here.session.tenantId, { ...broken(found), ...other }, "ops");

  const done = await here.done({ item: "bolt", available: 3 }, { tool: TOOL, version: '"v1"' });

  expect(done.state).toBe("succeeded");
});

test("a version is an identity only where a probe measured it: somebody's word makes no repeat safe", async () => {
  const ends: Json[] = [];
  for (const measured of [true, false]) {
    const provider = await shop({ etag: "strong", marker: true });
    const contract = { ...ETAG(), identity: SAME_VERSION, lookup: [] };
    const { here, found } = await probing(
      provider.url,
      contract,
      { available: "{n}" },
      { ...MAIN, rounds: 2 },
    );
    if (!measured) await here.ledger.keepProbe(here.session.tenantId, { ...found, measured: [] }, "ops");
    const clock = await movableClock(here);
    provider.fault("drop_before");

    const lost = await here.done({ item: "bolt", available: 3 }, { tool: TOOL, version: '"v1"' });
    await clock.ahead(5_000);
    const { state, attention } = await here.step(lost);

    ends.push([lost.state, state, attention === undefined ? "nobody" : "a person"]);
  }

  expect(ends).toEqual([
    ["unknown", "succeeded", "nobody"],
    ["unknown", "unknown", "a person"],
  ]);
});

describe("a key that is not kept as the contract says", () => {
  const KEY = (window: JsonObject): Contract =>
    preset("http/idempotency-key", {
      ...living("5s"),
      identity: { kind: "key", window, duplicateMeans: "effect" },
    });

  test("is measured: other content under it is executed", async () => {
    const provider = await shop({ key: { retentionMs: 60_000, after: "executes", mismatch: "executes" } });

    const { found } = await probing(provider.url, KEY({ for: "24h" }), { quantity: "{n}" });

    expect(verdicts(found)).toEqual({
      same_identity: "held",
      other_content: "broken",
      in_flight: "held",
      window: "unmeasured",
    });
  });

  test("is measured: it is forgotten inside its window", async () => {
    const provider = await shop({ key: { retentionMs: 300, after: "executes", mismatch: "refuses" } });

    const { found } = await probing(provider.url, KEY({ for: "2s", margin: "100ms" }), { quantity: "{n}" });

    expect(verdicts(found)).toMatchObject({ same_identity: "held", window: "broken" });
  });
});

test("a lookup that shows an effect later than its lag, and a barrier that prevents nothing, are found out", async () => {
  const provider = await shop({ lookup: { lagMs: 1_500 }, tombstone: true });
  const written = preset("http/marker-lookup", living("5s"));
  const lookup = written.lookup.map((each) => ({ ...each, lagMs: 200 }));
  const { found } = await probing(provider.url, { ...written, lookup }, { quantity: "{n}" });

  expect(verdicts(found)).toEqual({ lookup: "broken", barrier: "held" });
});

const SAME_VERSION: Contract["identity"] = {
  kind: "same_version",
  window: { opens: "first_effect", forMs: null, marginMs: 0, after: "refuses" },
  duplicateMeans: "effect_or_in_flight",
};

function broken(found: Probe): Probe {
  const [first, ...more] = found.measured;
  if (first === undefined) throw new Error("a probe measures something");
  return {
    ...found,
    verdict: "broken",
    measured: [{ ...first, verdict: "broken", says: "it is not" }, ...more],
  };
}
