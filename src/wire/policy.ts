import { type Static, Type } from "typebox";
import { maybe, strict, text, time, words } from "./member.ts";

const FILE = Type.Object(
  {
    name: text("Where it stands, as mistakes name it: `policies/inventory.cedar`."),
    text: Type.String({ maxLength: 4_194_304, description: "Cedar." }),
  },
  strict,
);

export const PolicyBody = Type.Object(
  { files: Type.Array(FILE, { maxItems: 500, description: "The whole policy." }) },
  strict,
);
export type PolicyBody = Static<typeof PolicyBody>;

const RULE_CHANGE = Type.Object(
  {
    id: Type.String({ description: "The rule's `@id`." }),
    how: words(["added", "removed", "changed"], "What became of it."),
    before: maybe(Type.String()),
    after: maybe(Type.String()),
    tends: words(["wider", "narrower", "either"], "What the change can do to what is permitted."),
  },
  strict,
);

export const CandidateAnswer = Type.Object(
  {
    digest: Type.String({ description: "Names it by content." }),
    standing: Type.String({ description: "The version that it was compared with; empty where none stands." }),
    changes: Type.Array(RULE_CHANGE),
  },
  strict,
);
export type CandidateAnswer = Static<typeof CandidateAnswer>;

export const PolicyVersionAnswer = Type.Object(
  {
    version: Type.String({ description: "`NUMBER.DIGEST`, as decisions name it. The number only grows." }),
    digest: Type.String(),
    actor: Type.String({ description: "Who activated it." }),
    reason: Type.String(),
    at: time("When."),
  },
  strict,
);
export type PolicyVersionAnswer = Static<typeof PolicyVersionAnswer>;

export const PoliciesAnswer = Type.Object(
  {
    version: Type.String({
      description: "What stands; empty where nothing does, and then everything is denied.",
    }),
    files: Type.Array(FILE),
    activations: Type.Array(PolicyVersionAnswer, { description: "Newest first; the latest hundred." }),
  },
  strict,
);
export type PoliciesAnswer = Static<typeof PoliciesAnswer>;

export const ActivationBody = Type.Object(
  {
    expects: Type.String({
      maxLength: 200,
      description: "The version that stands, as the change was looked at against it; empty for none.",
    }),
    reason: text("Why; kept with the activation.", 500),
  },
  strict,
);
export type ActivationBody = Static<typeof ActivationBody>;

export const ReplayBody = Type.Object(
  {
    last: maybe(
      Type.Integer({ minimum: 1, maximum: 1_000, description: "How many decisions; by default 100." }),
    ),
  },
  strict,
);
export type ReplayBody = Static<typeof ReplayBody>;

const SAID = Type.Object(
  {
    effect: words(["allow", "review", "deny"], "What policy says."),
    policies: Type.Array(Type.String()),
    requirements: Type.Array(Type.String(), { description: "Who is asked, in words." }),
    why: maybe(Type.String()),
  },
  strict,
);

export const ReplayAnswer = Type.Object(
  {
    digest: Type.String(),
    replayed: Type.Integer(),
    same: Type.Integer(),
    unclear: Type.Integer({ description: "The policy or the tool of then is not kept." }),
    flips: Type.Array(
      Type.Object(
        {
          operationId: Type.String(),
          at: time("When it was decided."),
          tool: Type.String(),
          resource: Type.String(),
          principalId: Type.String(),
          was: SAID,
          would: SAID,
        },
        strict,
      ),
    ),
  },
  strict,
);
export type ReplayAnswer = Static<typeof ReplayAnswer>;
