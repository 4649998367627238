import type { Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { Json } from "../core/json.ts";

type Variable = "principal" | "resource" | "context";
type Path = readonly string[];

/** What a set of policies can read of a request: paths of attributes; an empty path is the whole value with all that it leads to. */
export interface Reads {
  readonly principal: readonly Path[];
  readonly resource: readonly Path[];
  readonly context: readonly Path[];
}

/** All that these policies can read. What is not understood counts as everything, so that nothing that decides is ever left out. */
export function readsOf(policies: readonly PolicyJson[]): Reads {
  const found: Found = { principal: new Map(), resource: new Map(), context: new Map() };
  for (const { principal, resource, conditions } of policies) {
    if (needsWhole(principal)) note(found, "principal", []);
    if (needsWhole(resource)) note(found, "resource", []);
    const understood = conditions.every(({ body }) => walk(body as Json as Node, found));
    if (!understood) for (const variable of VARIABLES) note(found, variable, []);
  }
  return {
    principal: least(found.principal),
    resource: least(found.resource),
    context: least(found.context),
  };
}

const VARIABLES = ["principal", "resource", "context"] as const;
type Found = Readonly<Record<Variable, Map<string, Path>>>;

function note(found: Found, variable: Variable, path: Path): true {
  found[variable].set(JSON.stringify(path), path);
  return true;
}

/** Does any of them read below this name of the context? */
export function mentions(reads: Reads, name: string): boolean {
  return reads.context.some((path) => path.length === 0 || path[0] === name);
}

/** A head that only asks for a type reads nothing: the type stands in every key. */
function needsWhole(constraint: PolicyJson["principal"]): boolean {
  if (constraint.op === "All") return false;
  return constraint.op !== "is" || constraint.in !== undefined;
}

function least(paths: ReadonlyMap<string, Path>): readonly Path[] {
  const all = [...paths.values()];
  const covered = (path: Path) =>
    all.some((other) => other.length < path.length && other.every((step, index) => path[index] === step));
  return all.filter((path) => !covered(path));
}

/** An expression as plain JSON; which member it has says what it is. */
type Node = { readonly [name in keyof Expr | string]?: Json };
// Operators with expressions for operands that compare or combine what those give.
const PLAIN = new Set(["!", "neg", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*"]);
const ON_SETS = new Set(["contains", "containsAll", "containsAny", "isEmpty"]);
// Functions of Cedar's extension types: each takes values and gives one.
const FUNCTIONS = new Set([
  "decimal",
  "lessThan",
  "lessThanOrEqual",
  "greaterThan",
  "greaterThanOrEqual",
  "ip",
  "isIpv4",
  "isIpv6",
  "isLoopback",
  "isMulticast",
  "isInRange",
  "datetime",
  "duration",
  "offset",
  "durationSince",
  "toDate",
  "toTime",
  "toMilliseconds",
  "toSeconds",
  "toMinutes",
  "toHours",
  "toDays",
]);

/** Notes what an expression reads; false where it is not understood. */
function walk(node: Node, found: Found): boolean {
  const path = pathOf(node);
  if (path !== undefined) return touched(path, found);
  const [[word, given] = ["", undefined], ...more] = Object.entries(node);
  if (more.length > 0) return false;
  if (word === "Value") return true; // A literal is compared, and who it names is not looked up.
  if (PLAIN.has(word) || ON_SETS.has(word)) return operands(given, ["arg", "left", "right"], found);
  if (word === "if-then-else") return operands(given, ["if", "then", "else"], found);
  if (word === "like") return operands(given, ["left"], found);
  if (word === "has") return has(given, found);
  if (word === "is" || word === "in") return placed(given, found);
  if (word === "Set" || FUNCTIONS.has(word)) return each(given, found);
  if (word === "Record") return isObject(given) && each(Object.values(given), found);
  return false;
}

function has(given: Json | undefined, found: Found): boolean {
  if (!isObject(given) || !isObject(given.left)) return false;
  const path = pathOf(given.left as Node);
  const asked = typeof given.attr === "string" ? [given.attr] : given.attr;
  if (path === undefined || !Array.isArray(asked)) return false;
  const [variable, ...steps] = path;
  return touched([variable, ...steps, ...asked.map(String)], found);
}

/** `is` and `in` look at what an entity stands in: only where that entity is one of the variables is it known what. */
function placed(given: Json | undefined, found: Found): boolean {
  if (!isObject(given) || !isObject(given.left)) return false;
  const [variable, ...steps] = pathOf(given.left as Node) ?? [];
  if (variable === undefined || steps.length > 0) return false;
  if (variable !== "action") note(found, variable, []);
  const above = given.right ?? given.in;
  return above === undefined || (isObject(above) && walk(above as Node, found));
}

type FullPath = readonly [Variable | "action", ...string[]];

/** `context.input.available` as its steps; undefined for what is no chain from a variable. */
function pathOf(node: Node): FullPath | undefined {
  const names = Object.keys(node);
  if (names.length !== 1) return undefined;
  const name = node.Var;
  if (name === "principal" || name === "resource" || name === "context" || name === "action") return [name];
  const dot = node["."];
  if (!isObject(dot) || !isObject(dot.left) || typeof dot.attr !== "string") return undefined;
  const [variable, ...steps] = pathOf(dot.left as Node) ?? [];
  return variable === undefined ? undefined : [variable, ...steps, dot.attr];
}

function touched([variable, ...steps]: FullPath, found: Found): boolean {
  if (variable === "action") return steps.length === 0;
  // Beyond an attribute that names an entity stands another entity's value: `principal.tenant` has none of its own.
  if (variable !== "context" && steps.length > 1) return false;
  return note(found, variable, steps);
}

function operands(given: Json | undefined, names: readonly string[], found: Found): boolean {
  if (!isObject(given)) return false;
  // `pattern`, of `like`, is text.
  return Object.entries(given).every(
    ([name, value]) =>
      name === "pattern" || (names.includes(name) && isObject(value) && walk(value as Node, found)),
  );
}

function each(given: Json | undefined, found: Found): boolean {
  return Array.isArray(given) && given.every((value: Json) => isObject(value) && walk(value as Node, found));
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
