import type { JsonObject } from "../../src/core/json.ts";
import type { Tool } from "../../src/core/tool.ts";
import { keyFor, verdictCache } from "../../src/policy/cache.ts";
import { parsed, validated } from "../../src/policy/load.ts";
import { schemaOf } from "../../src/policy/model.ts";
import { principalsOf, requestOf, subjectOf } from "../../src/policy/request.ts";
import { type Slice, sliceFor } from "../../src/policy/slice.ts";
import { ACME, ADA, policy } from "../support/cedar.ts";
import { STOCK_TOOL } from "../support/rig.ts";

/** A tool with an argument of each kind that policy knows. */
const WIDE_TOOL: Tool = {
  ...STOCK_TOOL,
  input: {
    type: "object",
    additionalProperties: true,
    required: ["warehouse", "item", "available", "urgent"],
    properties: {
      warehouse: { type: "string" },
      item: { type: "string" },
      available: { type: "integer" },
      price: { type: "number" },
      urgent: { type: "boolean" },
      kind: { enum: ["a", "b"] },
      tags: { type: "array", items: { type: "string" } },
      to: { type: "object", properties: { city: { type: "string" }, zone: { type: "integer" } } },
    },
  },
};

/** Rules that read a request in every way that Cedar has: each may be in a set or not. */
const RULES: readonly string[] = [
  `permit(principal is Writ::User, action in Writ::Action::"*", resource) when { principal.roles.contains("clerk") };`,
  `permit(principal is Writ::Service, action in Writ::Action::"*", resource) unless { context.itself };`,
  `permit(principal, action in Writ::Action::"inventory.*", resource in Writ::Warehouse::"w1");`,
  `permit(principal == Writ::User::"i#ada", action == Writ::Action::"inventory.set_available", resource);`,
  `permit(principal in Writ::Tenant::"acme", action in Writ::Action::"*", resource) when { context.input has kind && context.input.kind == "a" };`,
  `forbid(principal is Writ::User, action in Writ::Action::"*", resource) when { context.input.available > 3 };`,
  `@approval("manager") forbid(principal is Writ::User, action in Writ::Action::"*", resource) when { context.input.available > 1 };`,
  `@approval("compliance") @quorum("2") forbid(principal, action in Writ::Action::"*", resource) when { context.input.urgent };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { context.input has price && context.input.price.greaterThan(decimal("2.5")) };`,
  `forbid(principal is Writ::User, action in Writ::Action::"*", resource) when { context.input has to && context.input.to has city && context.input.to.city like "x*" };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { context.input has to.zone && context.input.to.zone == 2 };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { context.input has tags && context.input.tags.containsAll(["p", "q"]) };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { resource.name == "w2/i1" };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { resource == Writ::Item::"w1/i2" };`,
  `forbid(principal is Writ::User, action in Writ::Action::"*", resource) when { principal == Writ::User::"i#eve" || principal.subject == "bob" && principal.roles.isEmpty() };`,
  `forbid(principal is Writ::Service, action in Writ::Action::"*", resource) when { principal.name == "agent-2" && context.clients.contains("agent-1") };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { context has expectedVersion && context.expectedVersion == "3" };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { (if context.input.urgent then context.input.available else 0) == 2 };`,
  `forbid(principal, action in Writ::Action::"*", resource) unless { principal.tenant == resource.tenant };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { {a: context.input.available, b: context.client}.b == "agent-3" };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { [context.input.item, context.client].contains("i1") && !context.reversible };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { principal has roles && resource has name && resource.name like "*i3" };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { context has current && context.current.value has available && context.current.value.available == context.input.available };`,
  `@approval("manager") @by("principal") forbid(principal is Writ::User, action in Writ::Action::"*", resource) when { context.recent.conflicts >= 2 };`,
  `forbid(principal, action in Writ::Action::"*", resource) when { context.input.available * 4611686018427387904 > 0 };`,
  `permit(principal is Writ::User, action in Writ::Action::"*", resource) when { context has onBehalfOf && context.onBehalfOf == "i#bob" && -context.input.available < 0 };`,
  `permit(principal is Writ::User, action in Writ::Action::"*", resource) when { resource in [Writ::Warehouse::"w2", Writ::Warehouse::"w3"] };`,
  `permit(principal is Writ::User, action == Writ::Action::"approve", resource is Writ::Operation) when { principal.roles.contains(context.requirement) };`,
];

const PER_SET = 250;

export interface Compared {
  readonly requests: number;
  readonly hits: number;
  readonly effects: Readonly<Record<string, number>>;
  readonly differences: readonly string[];
}

/** Asks random questions, each about one principal, of random sets of rules, through a cache and afresh, and says where the two differ. */
export function compared(requests: number, seed: number, keyOf: typeof keyFor = keyFor): Compared {
  const random = generator(seed);
  const effects: Record<string, number> = {};
  const differences: string[] = [];
  let hits = 0;
  for (let done = 0; done < requests; done += PER_SET) {
    const { slice, named } = randomSlice(random);
    const cache = verdictCache(5_000, keyOf);
    for (let index = 0; index < PER_SET; ) {
      const { question, around } = randomQuestion(random, slice);
      const subject = subjectOf(question, slice.visible, around);
      for (const principal of principalsOf(question.session)) {
        index += 1;
        const before = cache.size;
        const request = requestOf(question.session, WIDE_TOOL.name, subject, principal);
        const kept = cache.evaluate(slice.of[principal.kind], request);
        const fresh = slice.of[principal.kind].evaluate(request);
        effects[fresh.effect] = (effects[fresh.effect] ?? 0) + 1;
        if (cache.size === before) hits += 1;
        if (JSON.stringify(kept) !== JSON.stringify(fresh))
          differences.push(`${named.join(" ")}: ${JSON.stringify({ request, kept, fresh })}`);
      }
    }
  }
  return { requests, hits, effects, differences };
}

function randomSlice(random: Random): { readonly slice: Slice; readonly named: readonly string[] } {
  const chosen = RULES.map((rule, index) => ({ rule, id: `r${index}` })).filter(
    (_, index) => index < 2 || index === RULES.length - 1 || random(6) === 0,
  );
  const { rules, mistakes } = parsed(policy(...chosen.map(({ rule, id }) => `@id("${id}") ${rule}`)));
  const wrong = mistakes[0] ?? validated(rules, schemaOf([WIDE_TOOL]))[0];
  if (wrong !== undefined) throw new Error(wrong);
  return { slice: sliceFor(rules, WIDE_TOOL), named: chosen.map(({ id }) => id) };
}

function randomQuestion(random: Random, slice: Slice) {
  const one = <T>(...of: readonly T[]): T => of[random(of.length)] as T;
  const maybe = (name: string, value: () => unknown) => (random(2) === 0 ? {} : { [name]: value() });
  const [warehouse, item] = [`w${1 + random(3)}`, `i${1 + random(3)}`];
  const person = one("ada", "bob", "eve");
  const itself = random(8) === 0 ? { itself: true as const } : {};
  const link = { id: "d", by: "client", delegator: one("agent-1", "agent-2"), holder: "agent-3" } as const;
  const session = {
    ...ADA,
    tenantId: ACME,
    principalId: `i#${person}`,
    clientId: one("agent-1", "agent-2", "agent-3"),
    roles: one([], ["clerk"], ["clerk", "manager"]),
    delegation: random(4) === 0 ? [link] : [],
    ...itself,
  };
  const args = {
    warehouse,
    item,
    available: random(5) - 1,
    urgent: random(4) === 0,
    unseen: random(1_000),
    ...maybe("price", () => one(1, 2.5, 2.5001, 1e4)),
    ...maybe("kind", () => one("a", "b")),
    ...maybe("tags", () => one([], ["p"], ["q", "p"])),
    ...maybe("to", () => ({ ...maybe("city", () => one("xa", "y")), ...maybe("zone", () => random(3)) })),
  } as unknown as JsonObject;
  const question = {
    session,
    tool: WIDE_TOOL,
    resource: { type: "Item", id: `${warehouse}/${item}`, parents: [{ type: "Warehouse", id: warehouse }] },
    arguments: args,
    ...(random(2) === 0 ? {} : { expectedVersion: String(random(4)) }),
    authority: { epoch: 1, offered: "", halts: [], probes: [], policyVersion: "1.x" },
  };
  const current = random(2) === 0 ? {} : { current: { version: "1", value: { available: random(3) } } };
  const facts = { ...current, recent: { denials: 0, conflicts: random(3) } };
  return { question, around: { environment: "production", asked: slice.asked, facts } };
}

type Random = (below: number) => number;

/** mulberry32: the same seed, the same questions. */
function generator(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
