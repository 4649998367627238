import { type Static, Type } from "typebox";
import { STATES } from "../wire.ts";
import { anyJson, anyObject, maybe, strict, text, time, words } from "./member.ts";

const DECISION = ["approve", "reject"] as const;

export const DecisionBody = Type.Object(
  {
    decision: words([...DECISION], "A no ends the operation, until it is claimed."),
    digest: text("The digest as displayed: the answer is to exactly this change."),
    nonce: text("Of the view that is answered (`GET /v1/approvals`). It answers once."),
    comment: maybe(text("Why; kept with the answer.", 2000)),
    assertion: maybe(anyObject("What the person's passkey signed (WebAuthn AuthenticationResponse, JSON).")),
  },
  strict,
);
export type DecisionBody = Static<typeof DecisionBody>;

export const FieldAnswer = Type.Object(
  {
    name: Type.String(),
    before: maybe(anyJson("What stands there, where that is known.")),
    after: anyJson("What will stand there: untrusted data."),
    shown: Type.String({
      description: "The same as text in which nothing moves, hides or turns; nothing is left out.",
    }),
    warnings: Type.Array(Type.String(), { description: "What to know before trusting one's eyes." }),
    described: Type.Boolean({ description: "Whether the tool's schema says what this is." }),
  },
  strict,
);
export type FieldAnswer = Static<typeof FieldAnswer>;

export const AskedAnswer = Type.Object(
  {
    policy: Type.String({ description: "The rule that asks, by id." }),
    role: Type.String(),
    by: words(["second_person", "principal"], "Who may answer: nobody of the chain, or the principal."),
    reason: Type.String({ description: "Why it asks." }),
    withinSeconds: Type.Number({ description: "How long an answer counts." }),
    assurance: maybe(anyObject("How sure it must be that it is this person.")),
    answered: maybe(
      Type.Object({ person: Type.String(), at: time("When."), until: time("Until when it counts.") }, strict),
    ),
    mine: Type.Boolean({ description: "Whether your yes would count for it." }),
    why: maybe(Type.String({ description: "Why it would not." })),
  },
  strict,
);
export type AskedAnswer = Static<typeof AskedAnswer>;

export const ApprovalAnswer = Type.Object(
  {
    operationId: Type.String(),
    state: words([...STATES], "A no counts until it is claimed."),
    revision: Type.Integer(),
    waitsForMe: Type.Boolean(),
    digest: Type.String({ description: "Goes back with the answer." }),
    nonce: maybe(Type.String({ description: "Goes back with the answer; only for you, and only once." })),
    nonceExpiresAt: maybe(time("When it has to be looked at again.")),
    tenant: Type.String(),
    tool: Type.String(),
    title: Type.String({ description: "What it does, in the operator's words." }),
    resource: Type.String(),
    parents: Type.Array(Type.String(), { description: "What the resource belongs to." }),
    fields: Type.Array(FieldAnswer),
    expectedVersion: maybe(Type.String({ description: "It is changed at this version, or not at all." })),
    currentVersion: maybe(Type.String({ description: "What stands there now, where that could be read." })),
    compensates: maybe(Type.String()),
    supersedes: maybe(Type.String()),
    provider: Type.String(),
    reversible: maybe(Type.Boolean()),
    promise: Type.Array(Type.String(), {
      description: "What the provider's contract can and cannot promise.",
    }),
    principal: Type.String({ description: "On whose behalf." }),
    client: Type.String({ description: "Which agent or service asks." }),
    delegation: anyJson("The chain of its authority, root first."),
    asked: Type.Array(AskedAnswer, { description: "One for each person who is needed." }),
    policies: Type.Array(Type.String()),
    policyVersion: Type.String(),
    said: maybe(
      Type.Object({ decision: words([...DECISION], "Your own."), at: time("When you said it.") }, strict),
    ),
    note: maybe(
      Type.String({ description: "What the agent says; nobody checked it. Shown apart, in inert text." }),
    ),
    passkey: maybe(
      Type.Object(
        {
          rpId: Type.String(),
          credentials: Type.Array(Type.String(), { description: "Your passkeys, by id." }),
          challenges: Type.Object({ approve: Type.String(), reject: Type.String() }, strict),
        },
        strict,
      ),
    ),
    createdAt: time("When it was proposed."),
    until: time("When it ends without an answer, or its permission does."),
  },
  strict,
);
export type ApprovalAnswer = Static<typeof ApprovalAnswer>;

export const ApprovalPage = Type.Object(
  {
    approvals: Type.Array(ApprovalAnswer),
    cursor: maybe(Type.String({ description: "Send it back for the next page; absent on the last." })),
  },
  strict,
);
export type ApprovalPage = Static<typeof ApprovalPage>;

export const PasskeyAnswer = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    createdAt: time("When it was enrolled."),
    usedAt: maybe(time("When it last signed.")),
    suspectAt: maybe(time("Since when it is not trusted: its counter went backwards.")),
  },
  strict,
);
export type PasskeyAnswer = Static<typeof PasskeyAnswer>;
export const PasskeysAnswer = Type.Object({ passkeys: Type.Array(PasskeyAnswer) }, strict);

export const EnrolmentAnswer = Type.Object(
  {
    options: anyObject("PublicKeyCredentialCreationOptions, JSON."),
    ticket: Type.String({ description: "Goes back with what the authenticator answers." }),
  },
  strict,
);
export const EnrolBody = Type.Object(
  {
    ticket: text("From the enrolment.", 500),
    response: anyObject("What the authenticator answered (RegistrationResponse, JSON)."),
    name: text("What its owner calls it.", 100),
  },
  strict,
);
