import { type Static, Type } from "typebox";
import { maybe, strict, text, time, words } from "./member.ts";

const SCALAR = Type.Unsafe<string | number | boolean | null>({
  type: ["string", "number", "boolean", "null"],
});
/** Visible ASCII, as tokens name clients. */
const CLIENT = "^[\\x21-\\x7e]{1,200}$";

const ArgumentLimit = Type.Object(
  {
    min: maybe(Type.Number({ description: "A number, and at least this." })),
    max: maybe(Type.Number({ description: "A number, and at most this." })),
    enum: maybe(Type.Array(SCALAR, { maxItems: 64, description: "One of these." })),
    required: maybe(Type.Literal(true, { description: "It must be there; otherwise it may be absent." })),
  },
  strict,
);

const DelegationRule = Type.Object(
  {
    tools: Type.Array(
      Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}(?:\\.\\*)?$", maxLength: 128 }),
      { minItems: 1, maxItems: 64, description: "Exact names, or a name space such as `inventory.*`." },
    ),
    resources: Type.Array(
      Type.String({
        pattern: "^[A-Za-z_][A-Za-z0-9_]*:(?:\\*|[A-Za-z0-9_][A-Za-z0-9_.:@~/-]*)$",
        maxLength: 512,
      }),
      {
        minItems: 1,
        maxItems: 64,
        description: "`Type:id` or `Type:*`: the resource, or one that it belongs to.",
      },
    ),
    arguments: maybe(
      Type.Record(Type.String({ minLength: 1, maxLength: 200 }), ArgumentLimit, {
        maxProperties: 16,
        description: "By the argument's name, or by a JSON Pointer that begins with a slash.",
      }),
    ),
  },
  strict,
);

export const DelegationBody = Type.Object(
  {
    holder: Type.String({ pattern: CLIENT, description: "The client that may act under it." }),
    service: maybe(
      Type.String({
        pattern: "^[\\x21-\\x7e]{1,500}$",
        description:
          "Instead of a part of your own authority: `issuer#client` of a service that acts for itself.",
      }),
    ),
    rules: Type.Array(DelegationRule, {
      minItems: 1,
      maxItems: 32,
      description: "It covers what one of its rules covers.",
    }),
    depth: maybe(
      Type.Integer({
        minimum: 0,
        maximum: 7,
        description: "How many links may follow below it; none without it.",
      }),
    ),
    uses: maybe(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "How many operations may be executed under it, all in all.",
      }),
    ),
    notBefore: maybe(time("Not valid before; now without it.")),
    lastsSeconds: Type.Integer({
      minimum: 1,
      maximum: 31_622_400,
      description: "How long it lasts, from `notBefore` on. It never lasts longer than the one above it.",
    }),
    reason: maybe(text("Why, for whoever looks at it later.", 500)),
  },
  strict,
);
export type DelegationBody = Static<typeof DelegationBody>;

export const DelegationAnswer = Type.Object(
  {
    id: Type.String(),
    parent: maybe(Type.String({ description: "The one above it; absent of a root." })),
    principal: Type.String({ description: "On whose behalf." }),
    by: words(["principal", "client", "operator"], "In which capacity it was given."),
    delegator: Type.String(),
    holder: Type.String(),
    rules: Type.Array(DelegationRule),
    depth: Type.Integer({ description: "How many links stand above it." }),
    depthMax: Type.Integer({ description: "No link below it stands deeper." }),
    uses: maybe(Type.Integer({ description: "How many operations may be executed under it, all in all." })),
    notBefore: time("From when on."),
    expiresAt: time("Until when."),
    createdAt: time("When it was given."),
    createdBy: Type.String(),
    reason: maybe(Type.String()),
    revoked: maybe(Type.Object({ at: time("When."), by: Type.String(), reason: Type.String() }, strict)),
  },
  strict,
);
export type DelegationAnswer = Static<typeof DelegationAnswer>;

export const DelegationPage = Type.Object(
  {
    delegations: Type.Array(DelegationAnswer),
    cursor: maybe(Type.String({ description: "Send it back for the next page; absent on the last." })),
  },
  strict,
);
export type DelegationPage = Static<typeof DelegationPage>;

export const EndBody = Type.Object({ reason: text("Why; told to whom it stops.", 500) }, strict);
export type EndBody = Static<typeof EndBody>;

export const RevocationBody = Type.Object(
  {
    scope: words(["principal", "client"], "A person, or a service or agent."),
    name: Type.String({
      pattern: "^[\\x21-\\x7e]{1,500}$",
      description: "`issuer#subject` of a principal; a client's name.",
    }),
    reason: text("Why; told to whom it stops.", 500),
  },
  strict,
);
export type RevocationBody = Static<typeof RevocationBody>;

export const RevocationAnswer = Type.Object(
  {
    id: Type.String(),
    scope: Type.String(),
    name: Type.String(),
    reason: Type.String(),
    actor: Type.String(),
    at: time("Since when."),
  },
  strict,
);
export type RevocationAnswer = Static<typeof RevocationAnswer>;

export const RevocationPage = Type.Object(
  {
    revocations: Type.Array(RevocationAnswer),
    cursor: maybe(Type.String({ description: "Send it back for the next page; absent on the last." })),
  },
  strict,
);
export type RevocationPage = Static<typeof RevocationPage>;
