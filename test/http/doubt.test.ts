import { expect, test } from "vitest";
import { AUDITOR, door, OPERATOR, RESOLVER } from "../support/door.ts";
import { deaf, mute } from "../support/held.ts";
import { SETTLE_MS, shop } from "../support/shop.ts";

const ORDER = { tool: "orders.place", arguments: { order: "o-1", item: "main/bolt", quantity: 1 } };
const EVIDENCE = { reference: "https://kiosk.example/orders/o-1", note: "order o-1 is in the list" };

test("looking now settles what the provider can tell", async () => {
  const here = await shop({ of: "lookup", through: deaf });
  const { call, propose } = await door(here);
  const lost = await propose(ORDER);

  const looked = await call("POST", `/v1/operations/${lost.body.operationId}/reconcile`);

  expect(lost).toMatchObject({ status: 202, body: { state: "unknown" } });
  expect(looked).toMatchObject({ status: 200, body: { state: "succeeded", evidence: { kind: "lookup" } } });
  expect(here.orders()).toBe(1);
});

test("looking at what nobody can tell is 202 and leaves it to a person, whose ruling settles it", async () => {
  const here = await shop({ of: "nothing", through: deaf });
  const { call, propose } = await door(here);
  const { body } = await propose(ORDER);
  const path = `/v1/operations/${body.operationId}`;

  const looked = await call("POST", `${path}/reconcile`, { body: {} });
  const ruled = await call("POST", `${path}/findings`, {
    as: RESOLVER,
    body: { finding: "confirmed", digest: body.digest, evidence: EVIDENCE },
  });

  expect(looked).toMatchObject({ status: 202, body: { state: "unknown" } });
  expect(ruled).toMatchObject({
    status: 200,
    body: {
      state: "succeeded",
      evidence: { kind: "ruling", data: { by: "https://issuer.example#rosa", ...EVIDENCE } },
    },
  });
});

test("a ruling needs the role, the digest, somebody outside of the chain, and an operation in doubt", async () => {
  const here = await shop({ of: "nothing", through: deaf });
  const { call, propose } = await door(here);
  const { body } = await propose(ORDER);
  const path = `/v1/operations/${body.operationId}/findings`;
  const ruling = { finding: "confirmed", digest: body.digest, evidence: EVIDENCE };

  expect(await call("POST", path, { as: OPERATOR, body: ruling })).toMatchObject({
    status: 403,
    body: { code: "forbidden" },
  });
  expect(await call("POST", path, { as: { roles: ["resolver"] }, body: ruling })).toMatchObject({
    status: 403,
    body: { code: "forbidden" },
  });
  expect(
    await call("POST", path, { as: RESOLVER, body: { ...ruling, digest: "sha-256:other" } }),
  ).toMatchObject({ status: 409, body: { code: "finding_refused", at: "/digest" } });
  expect(await call("POST", path, { as: RESOLVER, body: { ...ruling, evidence: {} } })).toMatchObject({
    status: 400,
    body: { at: "/evidence/reference" },
  });
  expect(await call("POST", path, { as: RESOLVER, body: { ...ruling, finding: "unclear" } })).toMatchObject({
    status: 400,
    body: { at: "/finding" },
  });
  expect((await call("GET", `/v1/operations/${body.operationId}`)).body.state).toBe("unknown");
});

test("absence can be ruled when nothing sent may still act, and not before", async () => {
  const here = await shop({ of: "nothing", through: mute });
  const { call, propose } = await door(here);
  const { body } = await propose(ORDER);
  const path = `/v1/operations/${body.operationId}/findings`;
  const ruling = { finding: "absent", digest: body.digest, evidence: { ...EVIDENCE, note: "no such order" } };

  const early = await call("POST", path, { as: RESOLVER, body: ruling });
  await here.clock.ahead(SETTLE_MS + 60_000);
  const late = await call("POST", path, { as: RESOLVER, body: ruling });

  expect(early).toMatchObject({ status: 409, body: { code: "finding_refused" } });
  expect(late).toMatchObject({ status: 200, body: { state: "rejected", reason: "not_applied" } });
});

test("the explanation says in four parts what is known, and what comes next", async () => {
  const here = await shop({ of: "nothing", through: deaf });
  const { call, propose } = await door(here);
  const { body } = await propose(ORDER);

  const explained = await call("GET", `/v1/operations/${body.operationId}/explanation`, { as: AUDITOR });

  expect(explained).toMatchObject({
    status: 200,
    body: {
      state: "unknown",
      authorizedBy: { data: { principal: "https://issuer.example#ada", policies: ["role.agent"] } },
      against: {
        data: {
          resource: "Order:o-1",
          arguments: ORDER.arguments,
          promise: expect.arrayContaining([expect.stringMatching(/^A lost answer stays unknown/)]),
        },
      },
      attempts: { data: { count: 1 } },
      evidence: {
        lines: expect.arrayContaining(["Nothing confirms an effect, or its absence, yet."]),
        data: { chain: "whole", attributes: "nothing" },
      },
      next: { data: { by: "person" } },
    },
  });
});
