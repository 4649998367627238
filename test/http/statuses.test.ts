import { expect, test } from "vitest";
import { Problem } from "../../src/core/problem.ts";
import type { DoorParts } from "../../src/http/door.ts";
import { AUDITOR, door, FOREIGN, OPERATOR, RESOLVER, type TestDoor } from "../support/door.ts";
import type { Answer, Call } from "../support/exchange.ts";
import { held, mute } from "../support/held.ts";
import { type Rig, rig } from "../support/rig.ts";
import { SETTLE_MS, shop } from "../support/shop.ts";
import { approvalStatuses } from "./approval-statuses.ts";
import { LOGIN, loginOf, loginStatuses } from "./login-statuses.ts";
import { policyStatuses } from "./policy-statuses.ts";
import { BODY, EVIDENCE, of, ROUTES, SPECIFIC } from "./routes.ts";

const ORDER = { tool: "orders.place", arguments: { order: "o-1", item: "main/bolt", quantity: 1 } };

/** Refusals that are the same for every route which documents them. */
const COMMON: Readonly<Record<number, (call: Asking) => Promise<Answer>>> = {
  400: ({ ask, path }) => ask(`${path}?nonsense=1`),
  401: ({ ask, path }) => ask(path, { as: null }),
  403: ({ ask, path }) => ask(path, { headers: { origin: "https://evil.example" } }),
  404: ({ ask, path }) => ask(path),
  413: ({ ask, path }) => ask(path, { body: `{"note": "${"n".repeat(262_144)}"}` }),
  415: ({ ask, path }) => ask(path, { body: "{}", headers: { "content-type": "text/plain" } }),
  421: ({ ask, path }) => ask(path, { headers: { host: "evil.example" } }),
};
interface Asking {
  readonly path: string;
  ask(path: string, call?: Call): Promise<Answer>;
}

const seen = new Set<string>();

/** The real door, which remembers which status each route gave. */
async function counted(here: Pick<Rig, "ports">, parts: Partial<DoorParts> = {}): Promise<TestDoor> {
  const there = await door(here, parts);
  const call: TestDoor["call"] = async (method, path, given) => {
    const answer = await there.call(method, path, given);
    const route =
      path
        .split("?")[0]
        ?.replace(/(?<=^\/v1\/(operations|approvals|halts|delegations|revocations)\/)[^/]+/, "{id}")
        .replace(/(?<=^\/v1\/policies\/)[^/]+/, "{version}") ?? path;
    seen.add(`${method} ${route} ${answer.status}`);
    return answer;
  };
  return {
    ...there,
    call,
    propose: (body, given = {}) => call("POST", "/v1/operations", { ...given, body }),
  };
}

test("every route gives every common refusal that it documents", async () => {
  const there = await counted(await rig());

  for (const [route, usual] of Object.entries(ROUTES)) {
    const [method = "", path = ""] = route.split(" ");
    const asking: Asking = {
      path: of(path),
      ask: (to, more = {}) => there.call(method, to, { ...usual, ...more }),
    };
    const { responses = {} } = there.openapi.paths[path]?.[method.toLowerCase()] ?? {};
    for (const status of Object.keys(responses).map(Number)) {
      const common = SPECIFIC.includes(`${route} ${status}`) ? undefined : COMMON[status];
      if (common === undefined) continue;
      const answer = await common(asking);
      expect({ route, status: answer.status, code: answer.body.code }).toEqual({
        route,
        status,
        code: expect.any(String),
      });
    }
  }
});

test("every route that asks the ledger says so when it is away; every route survives what nobody expected", async () => {
  const here = await rig();
  const refusing = async () =>
    Promise.reject(new Problem("ledger_unavailable", "away", { retryAfterMs: 1000 }));
  const delegations = new Proxy(here.ledger.delegations, { get: () => refusing });
  const away = new Proxy(here.ledger, {
    get: (_ledger, verb) => (verb === "delegations" ? delegations : refusing),
  });
  const without = await counted(
    {
      ports: {
        ...here.ports,
        ledger: away,
        authority: { ...here.ports.authority, known: away.authority, refresh: away.authority },
      },
    },
    {
      ready: async () => ({ ready: false, checks: [{ name: "database", ok: false }] }),
      login: loginOf(refusing),
    },
  );
  const boom = async () => Promise.reject(new Error("boom"));
  const broken = await counted(here, { identify: boom, ready: boom, login: loginOf(boom) });

  for (const [route, usual] of Object.entries(ROUTES)) {
    const [method = "", path = ""] = route.split(" ");
    const { responses = {} } = without.openapi.paths[path]?.[method.toLowerCase()] ?? {};
    const statuses = [
      (await without.call(method, of(path), usual)).status,
      (await broken.call(method, of(path), usual)).status,
    ];
    expect({ route, statuses }).toEqual({
      route,
      statuses: [503 in responses ? 503 : 200, 500 in responses ? 500 : 200],
    });
  }
});

test("proposals and executions give every status of what can become of them", async () => {
  const here = await rig();
  await here.run("insert into inventory values ('acme', 'main', 'widget', 5, 42)");
  const { call, propose } = await counted(here);
  const key = (name: string): Call => ({ headers: { "idempotency-key": name } });
  const later = async (available: number, version = 42) =>
    (
      await propose(
        { ...BODY, execute: "later", expectedVersion: version, arguments: { ...BODY.arguments, available } },
        key(`later-${available}`),
      )
    ).body.operationId;
  const execute = async (id: string) => (await call("POST", `/v1/operations/${id}/execute`)).status;

  const stale = await later(1, 41);
  const tampered = await later(2);
  const cancelled = await later(3);
  const good = await later(4);
  await here.run(
    "update operations set action = replace(action, '\"available\":2', '\"available\":9') where id = $1",
    [tampered.slice(3)],
  );
  expect((await call("POST", `/v1/operations/${cancelled}/cancel`)).status).toBe(200);
  expect((await call("POST", `/v1/operations/${good}/cancel`, { as: { principal: "bob" } })).status).toBe(
    404,
  );
  expect(await execute(stale)).toBe(412);
  expect(await execute(tampered)).toBe(422);
  expect(await execute(cancelled)).toBe(409);
  expect(await execute(good)).toBe(200);
  expect((await call("POST", `/v1/operations/${good}/cancel`)).status).toBe(409);

  const fresh = { ...BODY, expectedVersion: 43 };
  expect((await propose(fresh, key("a"))).status).toBe(200);
  expect((await propose({ ...fresh, expectedVersion: 44 }, key("a"))).status).toBe(422);
  await here.run("delete from operations where intent_key = 'a'");
  expect(await propose(fresh, key("a"))).toMatchObject({ status: 410, body: { code: "key_spent" } });
  expect((await propose({ ...fresh, expectedVersion: 7 }, key("b"))).status).toBe(412);
  expect((await propose({ ...fresh, arguments: { ...BODY.arguments, item: "none" } })).status).toBe(404);
});

test("an operation can be read in every way while it waits and when it has settled", async () => {
  const here = await rig();
  await here.run("insert into inventory values ('acme', 'main', 'widget', 5, 42)");
  const { call, propose } = await counted(here);
  const { body } = await propose({ ...BODY, execute: "later" });
  const path = `/v1/operations/${body.operationId}`;

  const { etag = "" } = (await call("GET", path)).headers;
  expect((await call("GET", path, { headers: { "if-none-match": etag } })).status).toBe(304);
  expect((await call("GET", `${path}/receipt`)).status).toBe(409);
  expect((await call("POST", `${path}/reconcile`)).status).toBe(202);
  expect((await call("POST", `${path}/execute`)).status).toBe(200);
  for (const part of ["", "/explanation", "/receipt", "/events"])
    expect((await call("GET", `${path}${part}`)).status).toBe(200);
  expect((await call("POST", `${path}/reconcile`)).status).toBe(200);
});

test("doubt, an equal effect in doubt, and rulings give theirs", async () => {
  const here = await shop({ of: "nothing", through: mute });
  const { call, propose } = await counted(here);
  const { body, status } = await propose(ORDER);
  const findings = `/v1/operations/${body.operationId}/findings`;
  const ruling = { finding: "absent", digest: body.digest, evidence: EVIDENCE };

  expect(status).toBe(202);
  expect((await propose(ORDER, { headers: { "idempotency-key": "new" } })).status).toBe(409);
  expect((await call("POST", findings, { as: RESOLVER, body: ruling })).status).toBe(409);
  await here.clock.ahead(SETTLE_MS + 60_000);
  expect((await call("POST", findings, { as: RESOLVER, body: ruling })).status).toBe(200);
});

test("a ruled absence permits a repeat where the provider would recognize it", async () => {
  const here = await shop({ of: "key", through: mute, tool: { permissionForMs: 3_600_000 } });
  const { call, propose } = await counted(here);
  const { body } = await propose({ ...ORDER, execute: "now" });
  await here.clock.ahead(SETTLE_MS + 1_000);

  const ruled = await call("POST", `/v1/operations/${body.operationId}/findings`, {
    as: RESOLVER,
    body: { finding: "absent", digest: body.digest, evidence: EVIDENCE },
  });

  expect(ruled).toMatchObject({ status: 202, body: { state: "authorized" } });
});

test("an execution that takes longer than the caller waits is 202", async () => {
  const gate = held();
  const here = await shop({ through: gate.through });
  const { call, propose } = await counted(here);
  const { body } = await propose({ ...ORDER, execute: "later" });

  const answer = await call("POST", `/v1/operations/${body.operationId}/execute`, {
    headers: { prefer: "wait=0" },
  });
  gate.letGo();

  expect(answer).toMatchObject({ status: 202, body: { state: "executing" } });
});

test("policies give theirs", async () => {
  expect(await policyStatuses(counted)).toEqual([201, 422, 200, 404, 404, 422, 409, 200]);
});

test("halts give theirs", async () => {
  const { call } = await counted(await rig());

  const { body, status } = await call("POST", "/v1/halts", {
    as: OPERATOR,
    body: { scope: "client", name: "agent-1", reason: "r" },
  });

  expect(status).toBe(201);
  expect((await call("POST", `/v1/halts/${body.id}/lift`, { as: OPERATOR, body: {} })).status).toBe(200);
});

test("delegations and revocations give theirs", async () => {
  const { call } = await counted(await rig());
  const rule = {
    tools: ["inventory.*"],
    resources: ["Warehouse:main"],
    arguments: { available: { max: 9 } },
  };
  const order = { holder: "agent-2", rules: [rule], lastsSeconds: 60 };
  const impossible = { ...rule, arguments: { available: { min: 9, max: 1 } } };

  const given = await call("POST", "/v1/delegations", { body: order });
  const nonsense = await call("POST", "/v1/delegations", { body: { ...order, rules: [impossible] } });
  const ended = await call("POST", `/v1/delegations/${given.body.id}/revoke`, { body: { reason: "over" } });
  const listed = await call("GET", "/v1/delegations?standing=true");
  const all = await call("GET", "/v1/delegations?holder=agent-2");
  const foreign = await call("POST", `/v1/delegations/${given.body.id}/revoke`, {
    as: { ...OPERATOR, ...FOREIGN },
    body: { reason: "mine" },
  });
  const revoked = await call("POST", "/v1/revocations", {
    as: OPERATOR,
    body: { scope: "client", name: "agent-1", reason: "stolen" },
  });
  const refused = await call("POST", "/v1/delegations", { body: order });
  const standing = await call("GET", "/v1/revocations", { as: AUDITOR });
  const lifted = await call("POST", `/v1/revocations/${revoked.body.id}/lift`, { as: OPERATOR, body: {} });

  expect([given, nonsense, ended, foreign, revoked, refused, lifted].map(({ status }) => status)).toEqual([
    201, 422, 200, 404, 201, 403, 200,
  ]);
  expect(given.body).toMatchObject({ by: "client", delegator: "agent-1", holder: "agent-2", rules: [rule] });
  expect(ended.body).toMatchObject({ id: given.body.id, revoked: { reason: "over" } });
  expect(listed.body.delegations).toEqual([]);
  expect(all.body.delegations).toEqual([ended.body]);
  expect(refused.body.code).toBe("revoked");
  expect(standing.body.revocations).toEqual([revoked.body]);
});

test("decisions and passkeys give theirs", async () => {
  expect(await approvalStatuses(counted)).toEqual([
    202, 429, 409, 202, 202, 200, 200, 200, 409, 409, 201, 422, 200,
  ]);
});

test("signing in and out gives theirs", async () => {
  await loginStatuses(await counted(await rig(), { login: LOGIN }));
});

test("every status that a route documents has been given", async () => {
  const here = await rig();
  const { openapi } = await door(here);
  const documented = Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );
  const common = documented.filter((each) => !SPECIFIC.includes(each));

  expect(Object.keys(ROUTES).sort()).toEqual(
    Object.entries(openapi.paths)
      .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`))
      .sort(),
  );
  expect(SPECIFIC.filter((each) => !documented.includes(each) || !seen.has(each))).toEqual([]);
  // The streams's own 200 is in stream.test.ts, and those of the pages are in installation.test.ts.
  const elsewhere = (each: string): boolean => each.endsWith(" 200");
  expect(common.filter((each) => !seen.has(each) && !elsewhere(each))).toEqual([]);
});
