import { expect, test } from "vitest";
import type { Delegation } from "../../src/core/delegation.ts";
import { linked } from "../support/delegated.ts";
import { door, FOREIGN, OPERATOR } from "../support/door.ts";
import { rig } from "../support/rig.ts";
import { stocked } from "../support/stock.ts";

const ADA = "https://issuer.example#ada";
const RULE = { tools: ["inventory.*"], resources: ["Warehouse:wh_1"], arguments: { available: { max: 20 } } };
const change = (available: number, version: number) => ({
  tool: "inventory.set_available",
  arguments: { warehouse: "wh_1", item: "a", available },
  expectedVersion: version,
});

test("a token that names a delegation acts under it, hands on a part of it, and is stopped with it", async () => {
  const here = await rig();
  await stocked(here, "a");
  const { call, propose } = await door(here);
  const order = { holder: "agent-2", rules: [RULE], depth: 1, lastsSeconds: 60 };

  const given = await call("POST", "/v1/delegations", { body: order });
  const second = { client: "agent-2", delegation: given.body.id };
  const wider = { ...RULE, arguments: { available: { max: 21 } } };
  const widening = await call("POST", "/v1/delegations", {
    as: second,
    body: { ...order, depth: 0, holder: "agent-3", rules: [wider] },
  });
  const handed = await call("POST", "/v1/delegations", {
    as: second,
    body: { ...order, depth: 0, holder: "agent-3" },
  });
  const third = { client: "agent-3", delegation: handed.body.id };
  const within = await propose(change(20, 42), { as: third });
  const beyond = await propose(change(21, 43), { as: third });
  const explained = await call("GET", `/v1/operations/${within.body.operationId}/explanation`);
  await call("POST", `/v1/delegations/${given.body.id}/revoke`, { as: OPERATOR, body: { reason: "over" } });
  const stopped = await propose(change(19, 43), { as: third });

  expect([given, widening, handed, within, beyond, stopped].map(({ status }) => status)).toEqual([
    201, 403, 201, 200, 403, 403,
  ]);
  expect([widening, beyond, stopped].map(({ body }) => body.code)).toEqual([
    "forbidden",
    "denied",
    "revoked",
  ]);
  expect(explained.body.authorizedBy.lines.slice(0, 3)).toEqual([
    `agent-3 asked for it on behalf of ${ADA}, through 2 delegations.`,
    `agent-1 gave agent-2 a part of what it held (${given.body.id}).`,
    `agent-2 gave agent-3 a part of what it held (${handed.body.id}).`,
  ]);
  expect(await here.stock("a")).toMatchObject({ writes: 1, available: 20 });
});

test("a token that names somebody else's is answered like one that names nothing, in each word", async () => {
  const here = await rig();
  await stocked(here, "a");
  const { call, propose } = await door(here);
  const ada = { ...here, session: here.as({ principalId: ADA }) };
  const hers: Delegation = await linked(ada, "agent-1");
  const tokens = [
    { delegation: `dlg_${"0".repeat(32)}` },
    { delegation: hers.id, client: "agent-2" },
    { delegation: hers.id, principal: "bob" },
  ];

  const answers = await Promise.all(
    tokens.map(async (as) => {
      const { status, body } = await propose(change(7, 42), { as });
      const { operationId, instance, ...told } = body;
      return JSON.stringify({ status, ...told }).replaceAll(operationId, "op");
    }),
  );
  const foreign = { ...OPERATOR, ...FOREIGN };
  const reason = { reason: "mine" };
  const absent = await call("POST", `/v1/delegations/dlg_${"0".repeat(32)}/revoke`, {
    as: foreign,
    body: reason,
  });
  const theirs = await call("POST", `/v1/delegations/${hers.id}/revoke`, { as: foreign, body: reason });
  const seen = await call("GET", "/v1/delegations", { as: foreign });

  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain('"status":403');
  const same = ({ status, body: { instance: _, ...body } }: typeof absent) => ({ status, body });
  expect(same(theirs)).toEqual(same(absent));
  expect(seen.body.delegations).toEqual([]);
  expect((await propose(change(7, 42), { as: { delegation: hers.id } })).status).toBe(200);
});
