import type { Setting } from "./settings.ts";

/** Every setting of one file in `tools/`. */
export const TOOL = {
  tool: {
    takes: "a name",
    default: null,
    must: true,
    sentence:
      "What agents call it, such as `inventory.set_available`. Names that begin with `writ.` are Writ's own.",
  },
  title: {
    takes: "a text",
    default: null,
    must: true,
    sentence: "What it does, for people who decide about it.",
  },
  description: { takes: "a text", default: null, sentence: "What an agent has to know to use it well." },
  provider: { takes: "a provider's name", default: null, must: true, sentence: "Where the effect happens." },
  input: {
    takes: "a JSON Schema",
    default: null,
    must: true,
    sentence: "The arguments: JSON Schema 2020-12, or draft-07 when it says so. Validation changes nothing.",
  },
  resource: { takes: "type and id", default: null, must: true, sentence: "Which resource it changes." },
  "resource.type": { takes: "a name", default: null, must: true, sentence: "Such as `Item`." },
  "resource.id": {
    takes: "a template",
    default: null,
    must: true,
    sentence: "Text and `{argument}`s that name the resource, such as `{warehouse}/{item}`.",
  },
  "resource.parents": {
    takes: "a list",
    default: null,
    sentence: "What the resource belongs to, for policies.",
  },
  "resource.parents[].type": { takes: "a name", default: null, must: true, sentence: "Such as `Warehouse`." },
  "resource.parents[].id": {
    takes: "a template",
    default: null,
    must: true,
    sentence: "As for the resource itself.",
  },
  expectedVersion: {
    takes: "required, optional or none",
    default: "required",
    sentence: "Whether a proposal names the version that it was decided against.",
  },
  sql: {
    takes: "statements",
    default: null,
    sentence: "For providers of kind postgres: what performing and reading mean.",
  },
  "sql.perform": {
    takes: "a statement",
    default: null,
    must: true,
    sentence: "The change; `:tenant`, `:expectedVersion` and `:argument` are parameters.",
  },
  "sql.read": {
    takes: "a statement",
    default: null,
    sentence: "The resource and its version; tells a missing row from another version.",
  },
  contract: {
    takes: "a path, or `from` and members",
    default: null,
    must: true,
    sentence:
      "What the provider guarantees: `presets/NAME`, a file of this folder, or a whole contract. Members beside `from` take the place of the file's.",
  },
  limits: {
    takes: "a list",
    default: null,
    sentence:
      "How much may happen in a while: reserved with the first claim, held while the outcome is not known.",
  },
  "limits[].count": { takes: "a number", default: null, sentence: "So many operations." },
  "limits[].sum": {
    takes: "a JSON Pointer",
    default: null,
    sentence: "Or: the sum of this argument, such as `/amount`.",
  },
  "limits[].max": { takes: "a number", default: null, sentence: "The most that the sum may be." },
  "limits[].per": { takes: "a time", default: null, must: true, sentence: "In which time." },
  "limits[].window": {
    takes: "sliding or fixed",
    default: "sliding",
    sentence:
      "`sliding`: in any stretch of that time. `fixed`: in each stretch of it since 1970, such as each day of UTC.",
  },
  "limits[].by": {
    takes: "a list of principal, client, resource",
    default: null,
    sentence: "Counted apart for each of these; without it, for the whole tenant.",
  },
  "limits[].name": {
    takes: "a text",
    default: null,
    sentence: "What a caller is told; made of the rest if absent. What it counted stays with the name.",
  },
  permissionFor: { takes: "a time", default: "5m", sentence: "How long one permission lives." },
  reviewFor: { takes: "a time", default: "24h", sentence: "How long a proposal waits for people." },
  autonomy: {
    takes: "drilled, allowed or never",
    default: "drilled",
    sentence:
      "`drilled`: without a fresh drill a person is asked. `allowed`: the operator answers for it. `never`: a person is always asked.",
  },
  lookalikes: {
    takes: "principal, tenant or off",
    default: "principal",
    sentence: "Among whose operations an equal one without an intent key counts as the same.",
  },
  intentKey: {
    takes: "optional or required",
    default: "optional",
    sentence: "Whether a proposal must carry an Idempotency-Key.",
  },
  approval: { takes: "reversible", default: null, sentence: "What people who approve should know." },
  "approval.reversible": {
    takes: "true or false",
    default: false,
    sentence: "Whether the change can be made good by another one.",
  },
  probe: {
    takes: "arguments",
    default: null,
    sentence:
      "The scratch resource that `writ probe` may write to. Without it the command line must name one.",
  },
  "probe.arguments": {
    takes: "arguments",
    default: null,
    must: true,
    sentence: "What a probe proposes; `{n}` in a text becomes a number that is new each time.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
