import { describe, expect, test } from "vitest";
import type { FaultSetting } from "../../src/connectors/simulated/faults.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { errandOf, living, preset } from "./errand.ts";
import { connectorTo, shop } from "./rig.ts";

const LOOKUP = preset("http/marker-lookup", living("5s"));
const ETAG = preset("http/etag-document", living("5s"));
const KEEPS = { lookup: { lagMs: 0 }, tombstone: true };

test("after a lost answer the lookup finds our operation by its own id, with its digest", async () => {
  const provider = await shop(KEEPS);
  const connector = connectorTo(provider.url);
  const errand = errandOf(LOOKUP);
  provider.fault("drop_after");
  await connector.perform(errand);

  const found = await connector.lookUp(errand, "operation");

  expect(found).toMatchObject({
    kind: "confirmed",
    evidence: { kind: "lookup", data: { lookup: "operation", resource: "ord_1", digest: errand.digest } },
  });
});

test("what never arrived is absent, and what is not visible yet is too: the contract's lag says when to believe it", async () => {
  const provider = await shop({ lookup: { lagMs: 1000 } });
  const connector = connectorTo(provider.url);
  const errand = errandOf(LOOKUP);
  const before = await connector.lookUp(errand, "operation");
  await connector.perform(errand);

  const early = await connector.lookUp(errand, "operation");
  provider.advance(1000);
  const late = await connector.lookUp(errand, "operation");

  expect([before.kind, early.kind, late.kind]).toEqual(["absent", "absent", "confirmed"]);
});

test("another content under our identity is a conflict", async () => {
  const provider = await shop(KEEPS);
  const connector = connectorTo(provider.url);
  await connector.perform(errandOf(LOOKUP));

  const found = await connector.lookUp(
    errandOf(LOOKUP, { arguments: { item: "main/bolt", quantity: 5 } }),
    "operation",
  );

  expect(found.kind).toBe("conflict");
});

const UNHELPFUL: readonly FaultSetting[] = [
  { status: 401, body: { error: "unauthorized" } },
  { status: 403, body: { error: "forbidden" } },
  { status: 404, body: { error: "no_such_route" } },
  { status: 404, text: "<html>Not found</html>" },
  { status: 429, body: {} },
  { status: 500, body: { error: "no_such_operation" } },
  { status: 200, body: {} },
  { status: 200, body: { items: [] } },
  { status: 200, text: "<html>Please log in</html>" },
  { status: 200, text: '{"state":"applied","state":"none"}' },
  { status: 302, headers: { location: "/login" } },
];

describe("C111 an answer that does not clearly say so is never taken for absence", () => {
  test.each(UNHELPFUL)("$status $body $text", async (setting) => {
    const provider = await shop(KEEPS);
    provider.fault("answer", setting);

    expect((await connectorTo(provider.url).lookUp(errandOf(LOOKUP), "operation")).kind).toBe("unclear");
  });

  test.each(["drop_before", "hang", "garbage", "cut_body"] as const)("%s", async (fault) => {
    const provider = await shop(KEEPS);
    provider.fault(fault);
    const contract = preset("http/marker-lookup", living(fault === "hang" ? "250ms" : "5s"));

    expect((await connectorTo(provider.url).lookUp(errandOf(contract), "operation")).kind).toBe("unclear");
  });

  test("a provider that is not there, and a lookup that the contract does not have", async () => {
    const provider = await shop(KEEPS);
    const connector = connectorTo(provider.url);
    await provider.close();

    expect((await connector.lookUp(errandOf(LOOKUP), "operation")).kind).toBe("unclear");
    expect((await connector.lookUp(errandOf(LOOKUP), "other")).kind).toBe("unclear");
  });
});

test("C113 a status that the contract does not know is unclear, and says so", async () => {
  const provider = await shop(KEEPS);
  provider.fault("answer", { status: 200, body: { state: "SETTLED_V2" } });

  const found = await connectorTo(provider.url).lookUp(errandOf(LOOKUP), "operation");

  expect(found).toEqual({
    kind: "unclear",
    why: '"operation" answered 200, which the contract does not know',
  });
});

test("C116 a value that looks right is not our effect: somebody else wrote it while our request was lost", async () => {
  const provider = await shop({ etag: "strong", marker: true });
  const connector = connectorTo(provider.url);
  const errand = errandOf(ETAG, { arguments: { available: 18 }, expectedVersion: '"v1"' });
  provider.fault("drop_before");
  await connector.perform(errand);
  provider.writeAsSomebodyElse("main/bolt", 18);

  const found = await connector.lookUp(errand, "marker");

  expect(found.kind).toBe("absent");
  expect(provider.effectsOf(errand.action.operationId)).toHaveLength(0);
});

test("a marker proves the effect until a later writer replaces it", async () => {
  const provider = await shop({ etag: "strong", marker: true });
  const connector = connectorTo(provider.url);
  const errand = errandOf(ETAG, {
    arguments: { available: 18, writ: { operation: "forged" } },
    expectedVersion: '"v1"',
  });
  provider.fault("drop_after");
  await connector.perform(errand);
  const first = await connector.lookUp(errand, "marker");
  provider.writeAsSomebodyElse("main/bolt", 7);

  const later = await connector.lookUp(errand, "marker");

  expect(first).toMatchObject({
    kind: "confirmed",
    evidence: { data: { version: '"v2"', digest: errand.digest } },
  });
  expect(later.kind).toBe("absent");
});

describe("the barrier", () => {
  test("stands before a late request, which then has no effect; the lookup sees it", async () => {
    const provider = await shop(KEEPS);
    const connector = connectorTo(provider.url);
    const errand = errandOf(LOOKUP);

    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.lookUp(errand, "operation")).toEqual({ kind: "absent", sawBarrier: true });
    expect(await connector.perform(errand)).toMatchObject({ kind: "refused", reason: "provider_refused" });
    expect(provider.effectsOf(errand.action.operationId)).toHaveLength(0);
  });

  test("comes too late for an effect that is there, and says so", async () => {
    const provider = await shop({ ...KEEPS, lookup: { lagMs: 60_000 } });
    const connector = connectorTo(provider.url);
    const errand = errandOf(LOOKUP);
    await connector.perform(errand);

    expect(await connector.bar(errand)).toEqual({ raised: false, why: "the provider answered 409" });
  });

  test.each(["drop_after", "error_after", "redirect"] as const)(
    "is not raised by an answer that does not clearly say so: %s",
    async (fault) => {
      const provider = await shop(KEEPS);
      provider.fault(fault);

      expect((await connectorTo(provider.url).bar(errandOf(LOOKUP))).raised).toBe(false);
    },
  );

  test("does not ask the gate: it can only prevent", async () => {
    const provider = await shop(KEEPS);

    expect((await connectorTo(provider.url).bar(errandOf(LOOKUP, { gate: () => false }))).raised).toBe(true);
  });
});

describe("an accepted request", () => {
  const completion: JsonObject = {
    request: { method: "GET", url: "{{base}}/operations/{{op.id}}" },
    every: "50ms",
    done: { status: 200, body: { "/state": "applied" } },
    refused: { status: 200, body: { "/state": "barred" } },
    receipt: { resource: "/resource" },
  };
  const contract = preset("http/marker-lookup", {
    ...living("5s"),
    completion,
    outcomes: [{ when: { status: 202 }, is: "accepted" }],
  });

  test("has not finished until the provider says so", async () => {
    const provider = await shop({ ...KEEPS, accepts: { afterMs: 1_000 } });
    const connector = connectorTo(provider.url);
    const errand = errandOf(contract);

    expect(await connector.perform(errand)).toMatchObject({ kind: "lost", answer: "accepted" });
    expect(await connector.poll(errand)).toBeUndefined();
    await expect
      .poll(() => provider.effectsOf(errand.action.operationId), { timeout: 10_000 })
      .toHaveLength(1);
    expect(await connector.poll(errand)).toMatchObject({
      kind: "confirmed",
      evidence: { data: { resource: "ord_1" } },
    });
  });

  test("has not finished when the question is lost, and is refused when the provider says never", async () => {
    const provider = await shop(KEEPS);
    const connector = connectorTo(provider.url);
    const errand = errandOf(contract);
    provider.fault("drop_before");

    expect(await connector.poll(errand)).toBeUndefined();
    await connector.bar(errand);
    expect(await connector.poll(errand)).toMatchObject({ kind: "refused" });
  });
});
