import { describe, expect, test } from "vitest";
import { assign, impossible, type Standpoint, whyNot } from "../../src/core/approval.ts";
import type { Requirement } from "../../src/core/policy.ts";
import type { Approval, SignedApproval } from "../../src/core/review.ts";

const needs = (policy: string, changes: Partial<Requirement> = {}): Requirement => ({
  policy,
  role: policy,
  quorum: 1,
  withinMs: 1_000,
  by: "second_person",
  reason: "risk",
  ...changes,
});

const yes = (person: string, changes: Partial<Approval> = {}): Approval => ({
  decision: "approve",
  person,
  client: "console",
  roles: [],
  digest: "d",
  at: 100,
  nonce: person,
  ...changes,
});

/** Everybody in the table may answer for the rules that stand beside them. */
const standpoint = (may: Readonly<Record<string, readonly string[]>> = {}, clock = 200): Standpoint => ({
  digest: "d",
  principalId: "ada",
  chain: new Set(["ada", "agent-1"]),
  clock,
  eligible: ({ person }, { policy }) => may[person]?.includes(policy) === true,
});

/** What a first come, first served assignment would do: kept to show that the real one must not be it. */
function greedy(
  requirements: readonly Requirement[],
  approvals: readonly Approval[],
  from: Standpoint,
): boolean {
  const used = new Set<Approval>();
  return requirements.every((requirement) => {
    const found = approvals.find((each) => !used.has(each) && whyNot(each, requirement, from) === undefined);
    if (found !== undefined) used.add(found);
    return found !== undefined;
  });
}

describe("giving people to requirements", () => {
  test("is exact where first come, first served would leave one unanswered", () => {
    const requirements = [needs("a"), needs("b")];
    const from = standpoint({ bob: ["a", "b"], carol: ["a"] });
    const approvals = [yes("bob"), yes("carol")];

    expect(greedy(requirements, approvals, from)).toBe(false);
    expect(assign(requirements, approvals, from)).toMatchObject({
      complete: true,
      slots: [{ approval: { person: "carol" } }, { approval: { person: "bob" } }],
    });
  });

  test("finds an assignment exactly when one exists, in every small case", () => {
    const rules = ["a", "b", "c"];
    const requirements = rules.map((rule) => needs(rule));
    const people = ["p", "q", "r"];
    let wrong = 0;
    for (let bits = 0; bits < 512; bits++) {
      const may = Object.fromEntries(
        people.map((person, row) => [person, rules.filter((_, column) => bits & (1 << (row * 3 + column)))]),
      );
      const order = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
      ];
      const exists = order.some((places) =>
        places.every((place, row) => may[people[row] ?? ""]?.includes(rules[place] ?? "")),
      );
      const from = standpoint(may);
      if (
        assign(
          requirements,
          people.map((each) => yes(each)),
          from,
        ).complete !== exists
      )
        wrong++;
    }

    expect(wrong).toBe(0);
  });

  test("never lets one person stand for two, however many rules they could answer", () => {
    const from = standpoint({ bob: ["a", "b"] });

    const answered = assign([needs("a"), needs("b")], [yes("bob")], from);
    const quorum = assign([needs("a", { quorum: 2 })], [yes("bob")], from);

    expect([answered.complete, quorum.complete]).toEqual([false, false]);
    expect(answered.slots.filter(({ approval }) => approval !== undefined)).toHaveLength(1);
  });

  test("takes of all complete assignments one that lasts longest", () => {
    const requirements = [needs("a", { withinMs: 500 }), needs("b", { withinMs: 5_000 })];
    const from = standpoint({ bob: ["a", "b"], carol: ["a", "b"] });

    const answered = assign(requirements, [yes("bob", { at: 100 }), yes("carol", { at: 190 })], from);

    expect(answered).toMatchObject({
      complete: true,
      endsAt: 690,
      slots: [{ approval: { person: "carol" } }, { approval: { person: "bob" } }],
    });
  });

  test("with nothing asked is complete, and with nobody is not", () => {
    expect(assign([], [], standpoint())).toEqual({ complete: true, slots: [] });
    expect(assign([needs("a")], [], standpoint()).complete).toBe(false);
  });
});

const signed = (requirement: readonly string[]): SignedApproval => ({
  statement: {
    actionDigest: "d",
    operationId: "op",
    decision: "approve",
    approver: "bob",
    requirement,
    nonce: "n",
    expiresAt: "",
  },
  credentialId: "c",
  publicKey: {},
  rpId: "localhost",
  origin: "http://localhost",
  authenticatorData: "",
  clientDataJSON: "",
  signature: "",
});

describe("a yes does not count", () => {
  test.each<[string, Partial<Approval>, Partial<Requirement>]>([
    ["when it is a no", { decision: "reject" }, {}],
    ["when it was withdrawn", { withdrawnAt: 150 }, {}],
    ["for another change", { digest: "e" }, {}],
    ["after its window, counted from its own moment", { at: 100 }, { withinMs: 100 }],
    ["of the principal", { person: "ada" }, {}],
    ["through the client that proposed", { client: "agent-1" }, {}],
    ["of somebody whom policy does not name", { person: "dan" }, {}],
    ["of somebody else where the principal is asked", {}, { by: "principal" }],
    [
      "of the principal through a token",
      { person: "ada", authentication: { via: "token" } },
      { by: "principal" },
    ],
    [
      "without the right acr",
      { authentication: { via: "console", acr: "pwd" } },
      { assurance: { acr: "mfa" } },
    ],
    ["without a moment of authentication", {}, { assurance: { maxAgeMs: 50 } }],
    [
      "long after authentication",
      { authentication: { via: "console", at: 40 } },
      { assurance: { maxAgeMs: 50 } },
    ],
    ["without a signature", {}, { assurance: { webauthn: true } }],
    ["with a signature for another rule", { signed: signed(["b"]) }, { assurance: { webauthn: true } }],
  ])("%s", (_name, approval, requirement) => {
    const from = standpoint({ bob: ["a"], ada: ["a"] });

    expect(whyNot(yes("bob"), needs("a"), from)).toBeUndefined();
    expect(whyNot(yes("bob", approval), needs("a", requirement), from)).toEqual(expect.any(String));
  });

  test("but does with all that is asked of it", () => {
    const assurance = { webauthn: true, acr: "mfa", maxAgeMs: 50 } as const;
    const authentication = { via: "console", acr: "mfa", at: 60 } as const;
    const approval = yes("bob", { authentication, signed: signed(["a", "b"]) });

    expect(whyNot(approval, needs("a", { assurance }), standpoint({ bob: ["a"] }))).toBeUndefined();
  });
});

describe("a review that nobody could satisfy", () => {
  const installed = { itself: false, passkeys: false, sendMs: 10 };

  test.each<[string, readonly Requirement[], Partial<typeof installed>]>([
    ["asks nobody", [], {}],
    ["asks more people than are ever asked", [needs("a", { quorum: 33 })], {}],
    ["asks a quorum of none", [needs("a", { quorum: 0 })], {}],
    [
      "asks the principal of a service that acts for itself",
      [needs("a", { by: "principal" })],
      { itself: true },
    ],
    ["asks the principal twice", [needs("a", { by: "principal" }), needs("b", { by: "principal" })], {}],
    ["ends before anything could be sent", [needs("a", { withinMs: 10 })], {}],
    ["asks for a passkey where there are none", [needs("a", { assurance: { webauthn: true } })], {}],
  ])("is known when it %s", (_name, requirements, changes) => {
    expect(impossible(requirements, { ...installed, ...changes })).toEqual(expect.any(String));
  });

  test("is not seen where somebody might", () => {
    const requirements = [
      needs("a", { quorum: 3, assurance: { webauthn: true } }),
      needs("b", { by: "principal" }),
    ];

    expect(impossible(requirements, { ...installed, passkeys: true })).toBeUndefined();
  });
});
