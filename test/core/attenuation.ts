import { resourceOf } from "../../src/core/action.ts";
import {
  type ArgumentLimit,
  chainOpinions,
  contains,
  coversRequest,
  type DelegatedRequest,
  type Delegation,
  type DelegationRule,
} from "../../src/core/delegation.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { combine } from "../../src/core/policy.ts";
import type { ResourceRule } from "../../src/core/tool.ts";

/** How an implementation could be wrong about the links of a chain. */
export type Mistake = "only the last link" | "a parent's missing limit" | "the tool alone";

export interface Told {
  /** Requests that a longer chain allowed and a shorter one did not, or that a contained child allowed beside its parent. */
  readonly widened: readonly object[];
  /** Pairs of rules of which the one was found to contain the other. */
  readonly contained: number;
  /** Requests that a chain of at least two links allowed. */
  readonly allowed: number;
}

const ITEM: ResourceRule = { type: "Item", id: "{w}/{i}", parents: [{ type: "Warehouse", id: "{w}" }] };
const ORDER: ResourceRule = { type: "Order", id: "{o}", parents: [] };
const TOOLS = [
  { name: "inventory.set", resource: ITEM },
  { name: "inventory.eu.set", resource: ITEM },
  { name: "orders.place", resource: ORDER },
];

/** Chains of random links and random requests, each asked with and without its last link. The seed makes them again. */
export function neverWidens(requests: number, seed: number, mistake?: Mistake): Told {
  const pick = picking(seed);
  const widened: object[] = [];
  let contained = 0;
  let allowed = 0;
  for (let asked = 0; asked < requests; ) {
    const parent = rules(pick);
    const child = pick([true, false]) ? narrowed(parent, pick) : rules(pick);
    const within = containment(child, parent, mistake);
    if (within) contained += 1;
    for (let each = 0; each < 8; each++, asked++) {
      const request = requestOf(pick, each < 4 ? child : parent);
      const shorter = chainAllows([parent], request, mistake);
      const longer = chainAllows([parent, child], request, mistake);
      if (longer) allowed += 1;
      // At use every link is asked; what containment promised at creation is asked of each alone.
      const promised = within && coversRequest(child, request) && !coversRequest(parent, request);
      if ((longer && !shorter) || promised) widened.push({ parent, child, request });
    }
  }
  return { widened, contained, allowed };
}

/** What the links say together, as a decision combines their voices. */
function chainAllows(
  links: readonly (readonly DelegationRule[])[],
  request: DelegatedRequest,
  mistake?: Mistake,
): boolean {
  const records = links.map((rules, depth) => recordOf(rules, depth));
  const voices = chainOpinions(records, request, NOW);
  const heard = mistake === "only the last link" ? voices.slice(-1) : voices;
  return combine(heard, "v", 1).effect === "allow";
}

const NOW = 1_000;

function recordOf(rules: readonly DelegationRule[], depth: number): Delegation {
  return {
    tenantId: "acme",
    id: `d${depth}`,
    ...(depth === 0 ? {} : { parentId: `d${depth - 1}` }),
    principalId: "i#ada",
    by: depth === 0 ? "principal" : "client",
    delegator: depth === 0 ? "i#ada" : `c${depth - 1}`,
    holder: `c${depth}`,
    rules,
    depth,
    depthMax: 7,
    notBefore: 0,
    expiresAt: NOW + 1,
    createdAt: 0,
    createdBy: "i#ada",
  };
}

function containment(
  child: readonly DelegationRule[],
  parent: readonly DelegationRule[],
  mistake?: Mistake,
): boolean {
  switch (mistake) {
    case "a parent's missing limit":
      // Only what both limit is compared.
      return contains(
        child,
        parent.map((rule) => ({ ...rule, arguments: common(rule, child) })),
        TOOLS,
      );
    case "the tool alone":
      return contains(
        child.map((rule) => ({ ...rule, resources: ["Order:*"] })),
        parent.map((rule) => ({ ...rule, resources: ["Order:*"] })),
        TOOLS,
      );
    default:
      return contains(child, parent, TOOLS);
  }
}

function common(rule: DelegationRule, child: readonly DelegationRule[]): Record<string, ArgumentLimit> {
  const known = new Set(child.flatMap((each) => Object.keys(each.arguments ?? {})));
  return Object.fromEntries(Object.entries(rule.arguments ?? {}).filter(([at]) => known.has(at)));
}

type Pick = <T>(values: readonly T[]) => T;

/** mulberry32: small, and the same everywhere. */
function picking(seed: number): Pick {
  let state = seed >>> 0;
  return (values) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const fraction = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return values[Math.floor(fraction * values.length)] as (typeof values)[number];
  };
}

const PATTERNS = [
  "inventory.set",
  "inventory.*",
  "inventory.eu.*",
  "orders.place",
  "orders.*",
  "inventory.eu.set",
];
const SELECTORS = [
  "Item:*",
  "Item:a/x",
  "Item:a/y",
  "Item:b/x",
  "Warehouse:a",
  "Warehouse:b",
  "Warehouse:*",
  "Order:*",
  "Order:o1",
];
const AT = ["n", "/n", "m", "/deep/k"];

function rules(pick: Pick): DelegationRule[] {
  return Array.from({ length: pick([1, 1, 2, 3]) }, () => ({
    tools: some(pick, PATTERNS),
    resources: some(pick, SELECTORS),
    ...limitsOf(pick),
  }));
}

function some<T>(pick: Pick, values: readonly T[]): T[] {
  return Array.from({ length: pick([1, 1, 2, 3]) }, () => pick(values));
}

function limitsOf(pick: Pick): Limited {
  const count = pick([0, 0, 1, 1, 2]);
  return count === 0
    ? {}
    : { arguments: Object.fromEntries(Array.from({ length: count }, () => [pick(AT), limitOf(pick)])) };
}
type Limited = { readonly arguments?: Record<string, ArgumentLimit> };

function limitOf(pick: Pick): ArgumentLimit {
  const low = pick([0, 1, 2, 3]);
  return pick<ArgumentLimit>([
    { max: low + 2 },
    { min: low },
    { min: low, max: low + 2 },
    { enum: [low, low + 1, "x"] },
    { enum: [low], required: true },
    { required: true },
    { max: low + 3, required: true },
    { enum: [low, low + 9], max: low + 3 },
  ]);
}

/** Rules that somebody would make of a part of their own: mostly narrower, sometimes not. */
function narrowed(parent: readonly DelegationRule[], pick: Pick): DelegationRule[] {
  return parent.slice(0, pick([1, 2, 3])).map((rule) => ({
    tools: rule.tools.map((pattern) =>
      pattern.endsWith(".*") && pick([true, false]) ? `${pattern.slice(0, -1)}set` : pattern,
    ),
    resources: rule.resources.map((selector) => {
      if (selector === "Warehouse:a") return pick(["Warehouse:a", "Item:a/x", "Item:b/x"]);
      if (selector.endsWith(":*"))
        return pick([selector, `${selector.slice(0, -1)}${selector === "Item:*" ? "a/x" : "a"}`]);
      return selector;
    }),
    arguments: {
      ...Object.fromEntries(
        Object.entries(rule.arguments ?? {}).map(([at, limit]) => [at, tightened(limit, pick)]),
      ),
      ...(pick([true, false, false]) ? { [pick(AT)]: limitOf(pick) } : {}),
    },
  }));
}

function tightened(limit: ArgumentLimit, pick: Pick): ArgumentLimit {
  return {
    ...limit,
    ...(limit.max === undefined ? {} : { max: limit.max - pick([0, 1, 1, -1]) }),
    ...(limit.min === undefined ? {} : { min: limit.min + pick([0, 1, 1, -1]) }),
    ...(pick([true, false, false]) ? { required: true as const } : {}),
  };
}

/** A request that is near to some rule, so that not all are refused. */
function requestOf(pick: Pick, near: readonly DelegationRule[]): DelegatedRequest {
  const rule = pick(near);
  const fitting = TOOLS.filter(({ name }) =>
    rule.tools.some((pattern) => pattern === name || name.startsWith(pattern.replace("*", ""))),
  );
  const tool = pick(fitting.length === 0 ? TOOLS : [...fitting, ...fitting, ...TOOLS]);
  const value = () => pick<JsonObject[string]>([0, 1, 2, 3, 4, 5, 9, "x", null]);
  const args: JsonObject = {
    w: pick(["a", "b"]),
    i: pick(["x", "y"]),
    o: pick(["o1", "o2", "a"]),
    ...(pick([true, true, false]) ? { n: value() } : {}),
    ...(pick([true, false]) ? { m: value() } : {}),
    ...(pick([true, false]) ? { deep: { k: value() } } : {}),
  };
  return { tool: tool.name, resource: resourceOf(tool.resource, args), arguments: args };
}
