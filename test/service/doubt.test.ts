import { describe, expect, test } from "vitest";
import { KINDS, SETTLE_MS, shop } from "../support/shop.ts";

const posts = (here: Awaited<ReturnType<typeof shop>>) =>
  here.provider.requests().filter((request) => request.method === "POST");

describe("a lost answer, where the provider remembers a key", () => {
  test("C050, C051: is cleared by sending the same again: one key, one effect, the first attempt kept", async () => {
    const here = await shop({ of: "key" });
    here.provider.fault("drop_after");
    const operation = await here.place("o1");

    const settled = await here.drive(operation);

    expect(operation).toMatchObject({ state: "unknown", attempts: [{ outcome: { kind: "lost" } }] });
    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }, { n: 2 }] });
    expect(posts(here).map((request) => request.key)).toEqual([operation.id, operation.id]);
    expect(posts(here)[0]?.body).toEqual(posts(here)[1]?.body);
    expect(here.orders()).toBe(1);
  });

  test("C012, C068: a 500 after the effect and a 503 before it are both unknown, and both end with one effect", async () => {
    const here = await shop({ of: "key" });
    here.provider.fault("error_after");
    const after = await here.place("o1");
    here.provider.fault("error_before");
    const before = await here.place("o2");

    const settled = [await here.drive(after), await here.drive(before)];

    expect([after.state, before.state]).toEqual(["unknown", "unknown"]);
    expect(settled.map((operation) => operation.state)).toEqual(["succeeded", "succeeded"]);
    expect(here.orders()).toBe(2);
  });

  test("C069: 'still in progress' is not a refusal: it stays unknown with a time, and ends with one effect", async () => {
    const here = await shop({ of: "key" });
    here.provider.fault("drop_after");
    const lost = await here.place("o1");
    here.provider.fault("in_flight");
    await here.clock.ahead(2_000);

    const busy = await here.step(lost);
    const settled = await here.drive(busy);

    expect(busy).toMatchObject({ state: "unknown", attempts: [{}, { outcome: { answer: "in_flight" } }] });
    expect(busy.dueAt).toBeGreaterThan(busy.updatedAt);
    expect(settled.state).toBe("succeeded");
    expect(here.orders()).toBe(1);
  });

  test("C071: is not repeated once the provider may have forgotten the key: a person is asked", async () => {
    const window = { opens: "first_send", forMs: 30_000, marginMs: 1_000, after: "executes" } as const;
    const identity = { kind: "key", window, duplicateMeans: "effect" } as const;
    const here = await shop({ of: "key", contract: { ...KINDS.key.contract, identity } });
    here.provider.fault("drop_after");
    const lost = await here.place("o1");
    await here.clock.ahead(window.forMs);

    const asked = await here.step(lost);

    expect(asked).toMatchObject({ state: "unknown" });
    expect(asked.attention).toMatch(/nothing to ask and no safe repeat/);
    expect(posts(here)).toHaveLength(1);
    expect(here.orders()).toBe(1);
  });

  test("C090: with its attempts spent it is a person's, with a reason, and sends no more", async () => {
    const here = await shop({ of: "key", contract: { ...KINDS.key.contract, attemptsMax: 2 } });
    here.provider.fault("drop_before", { times: "always", match: { method: "POST" } });
    const lost = await here.place("o1");

    const left = await here.drive(lost);

    expect(left).toMatchObject({ state: "unknown", attempts: [{ n: 1 }, { n: 2 }] });
    expect(left.attention).toBeDefined();
    expect(posts(here)).toHaveLength(2);
    expect(here.orders()).toBe(0);
  });
});

describe("a lost answer, where the provider can be asked", () => {
  test("C112: is found by the operation's own id, and not sent again", async () => {
    const here = await shop({ of: "lookup" });
    here.provider.fault("drop_after");
    const lost = await here.place("o1");

    const settled = await here.drive(lost);

    expect(settled).toMatchObject({ state: "succeeded", evidence: { kind: "lookup" } });
    expect(settled.inquiry.looked).toBe(1);
    expect(posts(here)).toHaveLength(1);
    expect(here.orders(lost)).toBe(1);
  });

  test("is not applied once nothing is there after the settle time, and not a moment earlier", async () => {
    const here = await shop({ of: "lookup" });
    here.provider.fault("drop_before");
    const lost = await here.place("o1");

    const early = await here.step(lost);
    const settled = await here.drive(early);

    expect(early).toMatchObject({ state: "unknown", inquiry: { looked: 1 } });
    expect(early.inquiry.absentSince).toBeUndefined();
    expect(settled).toMatchObject({ state: "rejected", reason: "not_applied" });
    expect((settled.settledAt ?? 0) - (lost.attempts[0]?.claimedAt ?? 0)).toBeGreaterThan(SETTLE_MS);
    expect(posts(here)).toHaveLength(1);
    expect(here.orders()).toBe(0);
  });

  test("C111, C113: no other answer is 'nothing there': it stays unknown, and becomes a person's", async () => {
    const here = await shop({ of: "lookup", contract: { ...KINDS.lookup.contract, unclearMax: 2 } });
    const answers = {
      "an error": { status: 500 },
      "a login page": { status: 200, text: "<html>please log in</html>" },
      "another 404": { status: 404, body: { error: "no_such_route" } },
      forbidden: { status: 403 },
      "slow down": { status: 429 },
      "an empty answer": { status: 200, body: {} },
      "a state that nobody knows": { status: 200, body: { state: "SETTLED_V2" } },
    };
    for (const [what, answer] of Object.entries(answers)) {
      here.provider.fault("drop_before", { match: { method: "POST" } });
      here.provider.fault("answer", { ...answer, times: "always", match: { method: "GET" } });
      const lost = await here.place(what.replaceAll(" ", "-"));
      await here.clock.ahead(2 * SETTLE_MS);

      const once = await here.step(lost);
      await here.clock.ahead(5_000);
      const twice = await here.step(once);

      expect({ what, ...twice }).toMatchObject({
        what,
        state: "unknown",
        inquiry: { looked: 2, unclearInRow: 2 },
        attention: expect.stringContaining("stayed unclear 2 times"),
      });
      // A person is asked, and looking goes on slowly.
      expect(twice.dueAt).toBeGreaterThan(twice.updatedAt);
      here.provider.clearFaults();
      expect(await here.drive(twice)).toMatchObject({ state: "rejected", reason: "not_applied" });
    }
  });

  test("behind a barrier it is settled at once, and the request that was still on its way has no effect when it arrives", async () => {
    const here = await shop({
      of: "barrier",
      contract: { ...KINDS.barrier.contract, settle: { kind: "bounded", forMs: 60_000 } },
      tool: { permissionForMs: 10_000 },
    });
    here.provider.fault("drop_before", { match: { method: "POST" } });
    const lost = await here.place("o1");
    await here.clock.ahead(10_000);

    const settled = await here.drive(lost);
    const request = posts(here)[0];
    const late = await fetch(`${here.provider.url}/orders`, { method: "POST", body: request?.body ?? "" });

    expect(settled).toMatchObject({
      state: "rejected",
      reason: "not_applied",
      inquiry: { barrier: "raised", barred: true },
    });
    expect((settled.settledAt ?? 0) - (lost.attempts[0]?.claimedAt ?? 0)).toBeLessThan(60_000);
    expect(late.status).toBe(409);
    expect(here.orders()).toBe(0);
  });
});

describe("a lost answer, where the provider offers nothing", () => {
  test("C012, C110: stays unknown for as long as it takes, is a person's, and is never sent again", async () => {
    const here = await shop({ of: "nothing" });
    here.provider.fault("error_after");
    const lost = await here.place("o1");

    await here.clock.ahead(30 * 86_400_000);
    const due = await here.ledger.due({ max: 10, reserveMs: 1, exceptProviders: [], exceptTenants: [] });

    expect(due.value).toEqual([]);
    expect(await here.again(lost)).toMatchObject({ state: "unknown", attention: expect.any(String) });
    expect(posts(here)).toHaveLength(1);
    expect(here.orders()).toBe(1);
  });

  test("C011: a refused connection, a refusal and a reset are three different answers", async () => {
    const here = await shop({ of: "nothing" });
    const refused = await here.place("o2", { quantity: 5_000 });
    here.provider.fault("drop_after");
    const reset = await here.place("o3");
    await here.provider.close();
    const unconnected = await here.place("o1");

    expect(unconnected).toMatchObject({ state: "authorized", attempts: [{ outcome: { kind: "absent" } }] });
    expect(refused).toMatchObject({ state: "rejected", reason: "provider_refused" });
    expect(reset).toMatchObject({ state: "unknown", attempts: [{ outcome: { kind: "lost" } }] });
    expect(here.orders()).toBe(1);
  });

  test("C118: a 200 without what the contract names as evidence is not a success", async () => {
    const here = await shop({ of: "nothing" });
    for (const [order, body] of [
      ["o1", {}],
      ["o2", { ok: false }],
    ] as const) {
      here.provider.fault("answer", { status: 200, body });

      expect(await here.place(order)).toMatchObject({ state: "unknown" });
    }
    expect(here.orders()).toBe(0);
  });
});

test("C068: 'slow down' proves that nothing was accepted: it is authorized again, not before the provider's time", async () => {
  const here = await shop({ of: "nothing" });
  here.provider.fault("throttle");

  const throttled = await here.place("o1");
  const early = await here.step(throttled);
  const settled = await here.drive(early);

  expect(throttled).toMatchObject({ state: "authorized", attempts: [{ outcome: { kind: "absent" } }] });
  expect((throttled.dueAt ?? 0) - throttled.updatedAt).toBeGreaterThanOrEqual(1_900);
  expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }, { n: 2 }] });
  expect(here.orders()).toBe(1);
});
