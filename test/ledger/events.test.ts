import { generateKeyPairSync, sign, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { brokenLink, type StoredEvent } from "../../src/core/event.ts";
import { proposal } from "../../src/core/proposal.ts";
import { openBatch } from "../../src/ledger/open.ts";
import type { Connector, Signer } from "../../src/service/ports.ts";
import { flown } from "../support/flown.ts";
import { instance, openingOf } from "../support/instance.ts";
import { rig, STOCK_TOOL } from "../support/rig.ts";
import { shop } from "../support/shop.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const signer: Signer = {
  keyId: "k1",
  sign: (claims) => {
    const input = [{ alg: "EdDSA", kid: "k1" }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    return `${input}.${sign(null, Buffer.from(input), privateKey).toString("base64url")}`;
  },
};

describe("the events of an operation", () => {
  test("C146: are one unbroken chain, computed by the database and checked by the core, through every kind of event", async () => {
    const here = await shop({ of: "barrier", tool: { permissionForMs: 12_000 } });
    here.provider.fault("drop_before");
    const lost = await here.place("o1");
    await here.clock.ahead(12_000);

    const settled = await here.drive(lost);
    const events = await here.ledger.events(lost.tenantId, lost.id);

    expect(settled.state).toBe("rejected");
    expect(events.map((event) => JSON.parse(event.body).type)).toEqual([
      "proposed",
      "authorized",
      "claimed",
      "lost",
      "looked_up",
      "barring",
      "barred",
      "looked_up",
    ]);
    expect(brokenLink(events)).toBeUndefined();
    for (const [index, event] of events.entries()) {
      const body = JSON.parse(event.body);
      expect(body).toMatchObject({ n: index + 1, prev: events[index - 1]?.hash ?? null });
      expect(body.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    }
  });

  test("broken: whatever was changed, left out or moved is seen, and where", async () => {
    const here = await rig();
    await stocked(here, "a");
    const operation = await here.done(change("a"), { version: 42 });
    const events = await here.ledger.events(operation.tenantId, operation.id);
    const second = (changed: Partial<StoredEvent>) =>
      events.map((event, n) => (n === 1 ? { ...event, ...changed } : event));
    const [one, two, ...rest] = events as [StoredEvent, StoredEvent, ...StoredEvent[]];

    expect(brokenLink(events)).toBeUndefined();
    expect(brokenLink(second({ body: two.body.replace("authorized", "denied") }))).toContain(
      "event 2 was changed",
    );
    expect(brokenLink(second({ hash: "sha-256:x" }))).toContain("event 2 was changed");
    expect(brokenLink([one, ...rest])).toContain("event 2 is missing");
    expect(brokenLink([two, ...rest])).toContain("event 1 is missing");
    expect(brokenLink([two, one, ...rest])).toContain("event 1 is missing or out of order");
  });

  test("never change and never disappear, nor do receipts, definitions and changes of authority: the database refuses it", async () => {
    const here = await rig();
    await stocked(here, "a");
    await here.done(change("a"), { version: 42 });
    await here.ledger.raiseEpoch(here.session.tenantId, "a reason", "ops");

    for (const table of ["events", "receipts", "definitions", "authority_events"]) {
      const before = await rowsOf(here, table);
      for (const text of [`update ${table} set tenant_id = tenant_id`, `delete from ${table}`])
        await expect(here.run(text)).rejects.toThrow(/never change and never disappear/);
      expect(before).toBeGreaterThan(0);
      expect(await rowsOf(here, table)).toBe(before);
    }
  });

  test("are told to a watcher in an order that never shows a later one before an earlier one could be seen", async () => {
    const here = await rig();
    const other = await instance(here, "w2");
    const asked = (item: string) =>
      proposal(
        { tool: STOCK_TOOL.name, arguments: change(item), expectedVersion: 1, execute: "later" },
        undefined,
      );
    const slow = await openingOf(here.ports, here.session, asked("slow"));
    const queries = await flown((database) => openBatch(database, [slow]));
    const tenant = here.session.tenantId;
    const start = await here.ledger.changes(tenant, "now", 100);

    const seen: number[] = [];
    await here.database.transaction(async (tx) => {
      await tx.all(queries);
      const quick = await openingOf(other.ports, here.session, asked("quick"));
      await other.ledger.open(quick);
      // "quick" is committed, and has the later number: to show it now would be to skip "slow" for ever.
      seen.push((await here.ledger.changes(tenant, start.seq, 100)).changes.length);
    });
    // A transaction of any other database of the server holds the horizon back too.
    const typesNow = async () =>
      (await here.ledger.changes(tenant, start.seq, 100)).changes.map((one) => one.type);
    await expect.poll(typesNow, { timeout: 10_000 }).toHaveLength(4);
    const after = await here.ledger.changes(tenant, start.seq, 100);

    expect(seen).toEqual([0]);
    expect(await typesNow()).toEqual(["proposed", "authorized", "proposed", "authorized"]);
    expect(after.changes[0]?.operationId).toBe(slow.operation.id);
    expect((await here.ledger.changes(tenant, after.seq, 100)).changes).toEqual([]);
    expect((await here.ledger.changes("globex" as never, 0, 100)).changes).toEqual([]);
  });
});

describe("a receipt", () => {
  test.each([
    ["succeeded", 42],
    ["rejected", 41],
  ] as const)("of an operation that %s verifies, and says what the ledger says", async (state, version) => {
    const here = await rig({ overrides: { signer } });
    await stocked(here, "a");

    const operation = await here.done(change("a"), { version });

    const jws = (await here.ledger.receipt(operation.tenantId, operation.id)) ?? "";
    const [header = "", claims = "", signature = ""] = jws.split(".");
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify(null, signed, publicKey, Buffer.from(signature, "base64url"))).toBe(true);
    expect(verify(null, Buffer.from(`${signed}x`), publicKey, Buffer.from(signature, "base64url"))).toBe(
      false,
    );
    const said = JSON.parse(Buffer.from(claims, "base64url").toString());
    expect(said).toMatchObject({
      state,
      operationId: operation.id,
      digest: operation.digest,
      principalId: "test#ada",
      authorization: { epoch: operation.authorization?.epoch, expiresAt: operation.expiresAt },
      attempts: [{ n: 1, learned: state === "succeeded" ? "confirmed" : "refused" }],
    });
    expect(said.reason).toBe(operation.reason);
    expect(Math.abs(said.observedAt - (operation.settledAt ?? 0))).toBeLessThan(5_000);
  });

  test("is there for each settled operation and for no other", async () => {
    const here = await shop({ of: "nothing" });
    await here.place("o1");
    await here.place("o2", { quantity: 5_000 });
    here.provider.fault("drop_after");
    await here.place("o3");
    await here.place("o4", { execute: "later" });

    const rows = await here.run(
      "select o.state, r.jws is not null as receipt from operations o left join receipts r on r.operation_id = o.id order by o.id",
    );

    expect(rows).toEqual([
      { state: "succeeded", receipt: true },
      { state: "rejected", receipt: true },
      { state: "unknown", receipt: false },
      { state: "authorized", receipt: false },
    ]);
  });
});

describe("what a provider answers", () => {
  test.each([
    ["a zero character", "a\u0000b"],
    ["half a surrogate pair", "a\ud800b"],
    ["an escape that looks like one", "a\\u0000b"],
  ])("may hold %s: what was learned is kept all the same", async (_name, text) => {
    const odd: Connector = {
      kind: "odd",
      perform: async () => ({
        kind: "confirmed",
        evidence: { kind: "answer", data: { text, [text]: [text, { deep: text }] } },
      }),
      lookUp: async () => ({ kind: "unclear", why: "not asked" }),
      bar: async () => ({ raised: false, why: "not asked" }),
    };
    const here = await shop({ through: () => odd });

    const operation = await here.place("o1");

    const mended = text.toWellFormed().replaceAll("\0", "\ufffd");
    expect(operation).toMatchObject({ state: "succeeded", evidence: { data: { text: mended } } });
    expect(await here.again(operation)).toEqual(operation);
    const events = await here.ledger.events(operation.tenantId, operation.id);
    expect(brokenLink(events)).toBeUndefined();
  });
});
