import { expect, test } from "vitest";
import { brokenLink } from "../../src/core/event.ts";
import { proposal } from "../../src/core/proposal.ts";
import type { Session } from "../../src/core/session.ts";
import { authorityView } from "../../src/service/authority.ts";
import { claimAndExecute } from "../../src/service/claim.ts";
import { activatePolicy, comparePolicy, keepPolicy, standingPolicy } from "../../src/service/policy.ts";
import type { PolicyText } from "../../src/service/policy-port.ts";
import { propose } from "../../src/service/propose.ts";
import { replayPolicy } from "../../src/service/replay.ts";
import { policy } from "../support/cedar.ts";
import { type Policed, policed, policyPorts } from "../support/policed.ts";
import { STOCK_TOOL } from "../support/rig.ts";

const OPEN = `
@id("agents") permit(principal is Writ::User, action in Writ::Action::"*", resource) when { principal.roles.contains("agent") };
@id("clients") permit(principal is Writ::Service, action in Writ::Action::"*", resource) unless { context.itself };
@id("answers") permit(principal is Writ::User, action == Writ::Action::"approve", resource is Writ::Operation)
when { principal.roles.contains(context.requirement) };
`;
const CAP = `@id("hard.cap") @reason("never above 20") forbid(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource) when { context.input.available > 20 };`;
const ASK = `@id("review.cap") @approval("manager") @reason("a manager looks at more than 20") forbid(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource) when { context.input.available > 20 };`;

async function stocked(first: PolicyText): Promise<Policed & { readonly admin: Session }> {
  const here = await policed(first);
  await here.run(
    "insert into inventory (tenant_id, warehouse, item, available, version) values ('acme', 'main', 'widget', 10, 1), ('acme', 'main', 'gadget', 10, 1)",
  );
  return {
    ...here,
    admin: here.as({ principalId: "test#cleo", clientId: "console", roles: ["policy-admin"] }),
  };
}

const set = (available: number, item = "widget") => ({ warehouse: "main", item, available });

async function activated(here: Policed & { readonly admin: Session }, text: PolicyText, reason = "because") {
  const { digest, standing: expects } = await keepPolicy(here.ports, here.admin, text);
  return activatePolicy(here.ports, here.admin, { digest, expects, reason });
}

test("the first policy is the configuration's, and a later folder changes nothing by itself", async () => {
  const here = await stocked(policy(OPEN));
  const { firstPolicy } = await import("../../src/policy/first.ts");
  const { activations } = await standingPolicy(here.ports, here.admin);

  await firstPolicy(
    { policies: here.policies, ledger: here.ledger, log: here.ports.log },
    here.session.tenantId,
    policy(OPEN, CAP),
  );

  expect(activations).toMatchObject([{ number: 1, actor: "configuration" }]);
  expect((await standingPolicy(here.ports, here.admin)).version).toBe(activations[0]?.version);
  expect(await here.done(set(30), { version: 1 })).toMatchObject({ state: "succeeded" });
});

test("an activation is a person's with the role, against what they looked at, and an event of the tenant's authority", async () => {
  const here = await stocked(policy(OPEN));
  const text = policy(OPEN, CAP);
  const before = await here.ledger.authority(here.session.tenantId);

  await expect(keepPolicy(here.ports, here.session, text)).rejects.toMatchObject({ code: "forbidden" });
  const service = { ...here.admin, principalId: "test#robot", clientId: "robot", itself: true as const };
  await expect(keepPolicy(here.ports, service, text)).rejects.toMatchObject({ code: "forbidden" });
  const { digest, changes } = await keepPolicy(here.ports, here.admin, text);
  const order = { digest, reason: "the cap" };
  await expect(
    activatePolicy(here.ports, here.admin, { ...order, expects: "7.sha-256:x" }),
  ).rejects.toMatchObject({ code: "policy_moved" });
  await expect(
    activatePolicy(here.ports, here.admin, {
      ...order,
      digest: "sha-256:none",
      expects: before.policyVersion,
    }),
  ).rejects.toMatchObject({ code: "not_found" });
  const made = await activatePolicy(here.ports, here.admin, { ...order, expects: before.policyVersion });

  expect(changes).toEqual([{ id: "hard.cap", how: "added", after: CAP, tends: "narrower" }]);
  expect(made).toMatchObject({ version: `2.${digest}`, number: 2, actor: "test#cleo", reason: "the cap" });
  const after = await here.ledger.authority(here.session.tenantId);
  expect(after).toMatchObject({ epoch: before.epoch + 1, policyVersion: made.version });
  const [event] = await here.run(
    "select type, actor, data from authority_events where tenant_id = 'acme' and epoch = $1",
    [after.epoch],
  );
  expect(event).toMatchObject({
    type: "policy_activated",
    actor: "test#cleo",
    data: { policy: made.version, before: before.policyVersion, reason: "the cap" },
  });
});

test("A12: going back is a new number with older text; nothing that is kept can be changed or taken away", async () => {
  const here = await stocked(policy(OPEN));
  const first = (await here.ledger.authority(here.session.tenantId)).policyVersion;
  const second = await activated(here, policy(OPEN, CAP));

  const back = await activatePolicy(here.ports, here.admin, {
    digest: first.slice(2),
    expects: second.version,
    reason: "back",
  });

  expect(back.version).toBe(`3.${first.slice(2)}`);
  for (const change of [
    "update policies set body = '{}'",
    "delete from policies",
    "update policy_activations set number = 9",
    "delete from policy_activations",
  ])
    await expect(here.run(change), change).rejects.toThrow(/never change/);
});

test("of two activations at once against one version, one stands", async () => {
  const here = await stocked(policy(OPEN));
  const [one, other] = [
    await keepPolicy(here.ports, here.admin, policy(OPEN, CAP)),
    await keepPolicy(here.ports, here.admin, policy(OPEN, ASK)),
  ];

  const answers = await Promise.allSettled(
    [one, other].map(({ digest, standing: expects }) =>
      activatePolicy(here.ports, here.admin, { digest, expects, reason: "r" }),
    ),
  );

  expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect((await standingPolicy(here.ports, here.admin)).activations).toHaveLength(2);
});

test("a policy with mistakes is not kept, and each mistake has its place", async () => {
  const here = await stocked(policy(OPEN));

  await expect(
    keepPolicy(
      here.ports,
      here.admin,
      policy(OPEN, `@id("x")\npermit(principal, action == Writ::Action::"no", resource);`),
    ),
  ).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringMatching(/^policies\/2\.cedar:2: /),
  });
});

test("A13: a policy that changes between the decision and the claim is met at the claim, in another process too", async () => {
  for (const [next, becomes] of [
    [policy(OPEN), "succeeded"],
    [policy(OPEN, ASK), "proposed"],
    [policy(OPEN, CAP), "rejected"],
  ] as const) {
    const here = await stocked(policy(OPEN, "// as it was"));
    const { operation } = await here.ask(set(30), { version: 1, execute: "later" });
    // The other process has decided and remembered under the old policy.
    const elsewhere = { ...here.ports, ...policyPorts(here), authority: authorityView(here.ledger) };
    await elsewhere.authority.known(here.session.tenantId);
    expect(operation.state).toBe("authorized");

    await activated(here, next);
    const claimed = await claimAndExecute(elsewhere, operation, operation.updatedAt);
    const ended = (await claimed.done) ?? claimed.operation;

    expect(ended.state).toBe(becomes);
    expect((await here.stock("widget"))?.writes).toBe(becomes === "succeeded" ? 1 : 0);
    const events = await here.ledger.events(here.session.tenantId, operation.id);
    expect(brokenLink(events)).toBeUndefined();
    const versions = new Set(events.flatMap(({ body }) => /"policyVersion":"(\d+)\./.exec(body)?.[1] ?? []));
    expect([...versions]).toEqual(becomes === "proposed" ? expect.arrayContaining(["1"]) : ["1", "2"]);
  }
});

test("C133: a process that was started with other files decides under the policy that stands", async () => {
  const here = await stocked(policy(OPEN));
  const elsewhere = { ...here.ports, ...policyPorts(here), authority: authorityView(here.ledger) };
  const asked = (item: string) =>
    propose(
      elsewhere,
      here.session,
      proposal({ tool: STOCK_TOOL.name, arguments: set(30, item) as never, expectedVersion: 1 }, undefined),
    );
  expect((await asked("widget")).operation.state).toBe("succeeded");

  await activated(here, policy(OPEN, CAP));

  expect((await asked("gadget")).operation).toMatchObject({ state: "rejected", reason: "denied" });
});

test("a denial says in its event which rule, why, and what was seen", async () => {
  const conflict = `@id("hard.hot") @reason("too many conflicts") forbid(principal is Writ::User, action in Writ::Action::"*", resource) when { context.recent.conflicts > 0 && context has current };`;
  const here = await stocked(policy(OPEN, conflict));
  expect(await here.done(set(11), { version: 9 })).toMatchObject({
    state: "rejected",
    reason: "precondition_failed",
  });

  const { operation } = await here.ask(set(12), { version: 1 });

  expect(operation).toMatchObject({ state: "rejected", reason: "denied" });
  const events = await here.ledger.events(here.session.tenantId, operation.id);
  expect(JSON.parse(events.at(-1)?.body ?? "{}")).toMatchObject({
    type: "denied",
    data: {
      policies: ["hard.hot"],
      why: "too many conflicts",
      roles: ["agent"],
      facts: { current: { version: "1", value: { available: 10 } }, recent: { denials: 0, conflicts: 1 } },
    },
  });
});

test("C130, A21: what could not be evaluated is an event that names the rule", async () => {
  const erring = `@id("hard.overflow") forbid(principal, action in Writ::Action::"*", resource) when { context.input.available * 9007199254740991 > 5 };`;
  const here = await stocked(policy(OPEN, erring));

  const { operation } = await here.ask(set(9_007_199_254_740_991), { version: 1 });

  expect(operation).toMatchObject({ state: "rejected", reason: "denied" });
  const events = await here.ledger.events(here.session.tenantId, operation.id);
  expect(JSON.parse(events.at(-1)?.body ?? "{}")).toMatchObject({
    type: "denied",
    data: { why: expect.stringContaining("hard.overflow") },
  });
});

test("a replay says which recorded decisions a candidate would give otherwise, from the facts of then", async () => {
  const here = await stocked(policy(OPEN));
  await here.done(set(15), { version: 1, key: "a" });
  await here.done(set(30), { version: 2, key: "b" });
  await here.ask(set(40), { version: 3, key: "c", session: here.as({ roles: [] }) });
  const candidate = await keepPolicy(here.ports, here.admin, policy(OPEN, ASK));

  const replay = await replayPolicy(here.ports, here.admin, { digest: candidate.digest, max: 100 });

  expect(replay).toMatchObject({ replayed: 3, same: 2, unclear: 0 });
  expect(replay.flips).toMatchObject([
    {
      tool: STOCK_TOOL.name,
      resource: "Item:main/widget",
      was: { effect: "allow", policies: ["agents", "clients"] },
      would: {
        effect: "review",
        why: "a manager looks at more than 20",
        requirements: ["review.cap: 1 by manager (second_person)"],
      },
    },
  ]);
  const asking = `@id("hard.hot") forbid(principal, action in Writ::Action::"*", resource) when { context.recent.conflicts > 9 };`;
  const other = await keepPolicy(here.ports, here.admin, policy(OPEN, asking));
  expect(await replayPolicy(here.ports, here.admin, { digest: other.digest, max: 2 })).toMatchObject({
    replayed: 2,
    flips: [],
    unclear: 2,
  });
  expect((await comparePolicy(here.ports, here.admin, policy(OPEN))).changes).toEqual([]);
  await expect(
    replayPolicy(here.ports, here.session, { digest: candidate.digest, max: 1 }),
  ).rejects.toMatchObject({ code: "forbidden" });
});
