import { describe, expect, onTestFinished, test } from "vitest";
import { httpConnector } from "../../src/connectors/http.ts";
import type { Contract } from "../../src/core/contract.ts";
import type { Operation } from "../../src/core/operation.ts";
import { executeLater } from "../../src/service/cancel.ts";
import type { Connector, ConnectorFinding, Ports } from "../../src/service/ports.ts";
import { takeStep } from "../../src/service/reconcile.ts";
import { redeployed } from "../support/redeployed.ts";
import { KINDS, orderTool, type Shop, shop } from "../support/shop.ts";
import { rowsOf } from "../support/stock.ts";

const HOUR = 3_600_000;
const posts = (here: Shop) => here.provider.requests().filter((request) => request.method === "POST");

/** One step by a process of another deployment, at the operation's due time. */
async function stepBy(here: Shop, ports: Ports, operation: Operation): Promise<Operation> {
  await here.clock.ahead(5_000);
  const read = await here.ledger.read(operation.tenantId, operation.id);
  const executed = await takeStep(ports, read?.value ?? operation, read?.clock ?? 0);
  return (await executed.done) ?? here.again(operation);
}

async function lostOrder(options: Parameters<typeof shop>[0] = {}): Promise<{ here: Shop; lost: Operation }> {
  const here = await shop({ of: "key", ...options });
  here.provider.fault("drop_after");
  return { here, lost: await here.place("o1") };
}

function connectorTo(here: Shop): Connector {
  const connector = httpConnector({ base: here.provider.url, allowPrivate: ["127.0.0.1"] });
  onTestFinished(() => connector.close());
  return connector;
}

describe("K6: one identity for one operation", () => {
  test("C050, C051: after an upgrade that changed the tool, the repeat goes out under the pinned contract and the same key: one effect", async () => {
    const { here, lost } = await lostOrder();
    const changed = orderTool({ ...KINDS.key.contract, attemptsMax: 3 }, { title: "Place an order (new)" });
    const ports = await redeployed(here, { tools: [changed], connectors: { shop: connectorTo(here) } });

    const settled = await stepBy(here, ports, lost);

    expect(settled).toMatchObject({ state: "succeeded", toolDigest: lost.toolDigest });
    expect(posts(here).map((request) => request.key)).toEqual([lost.id, lost.id]);
    expect(posts(here)[1]?.body).toBe(posts(here)[0]?.body);
    expect(here.orders()).toBe(1);
  });

  test("C052: after the provider's credential was changed nothing is repeated: another credential is another caller to it", async () => {
    const { here, lost } = await lostOrder();
    const tools = [orderTool(KINDS.key.contract)];
    const settings = { shop: "sha-256:another credential" };
    const ports = await redeployed(here, { tools, settings, connectors: { shop: connectorTo(here) } });

    const left = await stepBy(here, ports, lost);

    expect(left).toMatchObject({ state: "unknown", attention: expect.any(String), attempts: [{ n: 1 }] });
    expect(posts(here)).toHaveLength(1);
  });
});

test("the moment of the first attempt is told alike by every attempt, also where that one was sent back", async () => {
  const request = {
    method: "POST",
    url: "{{base}}/orders",
    headers: { "Idempotency-Key": '"{{op.key}}"', "First-Sent": "{{httpdate op.first_sent_at}}" },
    body: "{{args}}",
  };
  const here = await shop({ of: "key", contract: { ...KINDS.key.contract, request } });
  here.provider.fault("throttle");
  here.provider.fault("drop_after");

  const settled = await here.drive(await here.place("o1"));

  const told = posts(here).map(({ headers }) => headers["first-sent"]);
  expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  expect(told).toHaveLength(3);
  expect(new Set(told)).toEqual(new Set([new Date(settled.attempts[0]?.claimedAt ?? 0).toUTCString()]));
  expect(here.orders()).toBe(1);
});

describe("K8: how long a provider remembers", () => {
  const window = { opens: "first_send", forMs: 24 * HOUR, marginMs: 60_000, after: "executes" } as const;
  const contract: Contract = {
    ...KINDS.key.contract,
    attemptsMax: 8,
    identity: { kind: "key", window, duplicateMeans: "effect" },
  };

  test("C072: the window counts from the first request, not from the permission that was thirty hours older", async () => {
    const here = await shop({ of: "key", contract, tool: { permissionForMs: 100 * HOUR } });
    const waiting = await here.place("o1", { execute: "later" });
    await here.clock.ahead(30 * HOUR);
    here.provider.fault("drop_before", { times: 2, match: { method: "POST" } });
    const executed = await executeLater(here.ports, here.session, waiting.id);
    const lost = (await executed.done) ?? executed.operation;

    await here.clock.ahead(20 * HOUR);
    const inside = await here.step(lost);
    await here.clock.ahead(4 * HOUR);
    const outside = await here.step(inside);

    expect(inside).toMatchObject({ state: "unknown", attempts: [{ n: 1 }, { n: 2 }] });
    expect(outside).toMatchObject({ state: "unknown", attempts: [{ n: 1 }, { n: 2 }] });
    expect(outside.attention).toBeDefined();
    expect(posts(here)).toHaveLength(2);
  });
});

describe("K12: conflicts of our own database", () => {
  test("C106, C109: with three commits in ten refused, sixty operations are sixty requests, sixty effects and sixty receipts", async () => {
    const here = await shop({ of: "nothing" });
    await here.run(`create function conflict() returns trigger language plpgsql as $$ begin
      if random() < 0.3 then raise exception 'conflict' using errcode = '40001'; end if; return new; end $$`);
    await here.run(
      "create trigger a_conflict before insert or update on operations for each row execute function conflict()",
    );
    const asked = Array.from({ length: 60 }, (_, n) => `o${n}`);

    // What a client does that is told to send the same again, under the same key.
    const answer = async (order: string): Promise<Operation> => {
      for (;;) {
        try {
          return await here.place(order, { key: order });
        } catch (error) {
          if ((error as { code?: string }).code !== "ledger_unavailable") throw error;
        }
      }
    };
    const operations = await Promise.all(asked.map(answer));

    expect(operations.map((operation) => operation.state)).toEqual(asked.map(() => "succeeded"));
    expect(posts(here)).toHaveLength(60);
    expect(here.orders()).toBe(60);
    expect(await rowsOf(here, "receipts")).toBe(60);
    expect(await rowsOf(here, "operations")).toBe(60);
  });
});

describe("K13: 'it exists already' is not 'it was us'", () => {
  const contract: Contract = {
    ...KINDS.key.contract,
    identity: {
      kind: "create_once",
      window: { opens: "first_effect", forMs: null, marginMs: 0, after: "refuses" },
      duplicateMeans: "effect",
    },
    lookup: KINDS.lookup.contract.lookup,
  };
  /** A provider that says "exists already" to the repeat, and then shows what stands there. */
  const existing = (shown: ConnectorFinding): Connector => ({
    kind: "existing",
    perform: async ({ attempt }) =>
      attempt === 1
        ? { kind: "lost", cause: "no answer" }
        : { kind: "lost", cause: "409", answer: "duplicate" },
    lookUp: async () => shown,
    bar: async () => ({ raised: false, why: "none" }),
  });
  const evidence = { kind: "lookup" as const, data: { reference: "seen" } };

  test.each<[string, ConnectorFinding, object]>([
    ["ours, by its reference", { kind: "confirmed", evidence }, { state: "succeeded", evidence }],
    [
      "somebody else's",
      { kind: "conflict", evidence },
      { state: "unknown", attention: expect.stringContaining("another content") },
    ],
  ])("C115: what exists is %s", async (_name, shown, expected) => {
    const here = await shop({ contract, through: () => existing(shown) });

    const lost = await here.place("o1");
    const left = await here.drive(lost);

    expect(lost.state).toBe("unknown");
    expect(left).toMatchObject(expected);
  });
});
