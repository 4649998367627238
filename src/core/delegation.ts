import { resourceOf } from "./action.ts";
import type { Instant } from "./ids.ts";
import { type Json, type JsonObject, pointed } from "./json.ts";
import type { Draw } from "./limits.ts";
import type { Opinion } from "./policy.ts";
import { type DelegationLink, type Session, serviceName } from "./session.ts";
import type { ResourceRule } from "./tool.ts";

type Scalar = string | number | boolean | null;

/** What one argument may be. An absent argument passes unless it is required; numbers only are within `min` and `max`. */
export interface ArgumentLimit {
  readonly min?: number;
  readonly max?: number;
  readonly enum?: readonly Scalar[];
  readonly required?: true;
}

/** One rule covers what meets all of it; a delegation covers what one of its rules covers. The algebra is closed, so that containment can be decided. */
export interface DelegationRule {
  /** Exact names, or a name space: `inventory.*`. */
  readonly tools: readonly string[];
  /** `Type:id`, or every one of a type: `Type:*`. Each names the resource itself or one that it belongs to. */
  readonly resources: readonly string[];
  /** By a top-level argument's name, or by a JSON Pointer (RFC 6901) that begins with a slash. */
  readonly arguments?: Readonly<Record<string, ArgumentLimit>>;
}

/** A record in the ledger: part of a parent's authority, given to a client until a moment. It never changes; it can be revoked. */
export interface Delegation extends DelegationLink {
  readonly tenantId: string;
  /** Absent of a root: what it gives is the principal's own. */
  readonly parentId?: string;
  /** On whose behalf: the root's principal, all the way down. */
  readonly principalId: string;
  readonly rules: readonly DelegationRule[];
  /** How many links stand above it. */
  readonly depth: number;
  /** No link below it stands deeper than this. */
  readonly depthMax: number;
  readonly notBefore: Instant;
  readonly expiresAt: Instant;
  readonly createdAt: Instant;
  /** Who asked for it, as the ledger tells it. */
  readonly createdBy: string;
  readonly reason?: string;
  readonly revoked?: Ending;
}

/** Who ended it, when, and why. */
interface Ending {
  readonly at: Instant;
  readonly by: string;
  readonly reason: string;
}

/** What a rule is asked about. */
export interface DelegatedRequest {
  readonly tool: string;
  readonly resource: ReturnType<typeof resourceOf>;
  readonly arguments: JsonObject;
}

/** Links of one chain: a longer one is nobody's intention. */
export const CHAIN_MAX = 8;

export function coversRequest(rules: readonly DelegationRule[], request: DelegatedRequest): boolean {
  const { type, id, parents } = request.resource;
  const names = [{ type, id }, ...parents];
  return rules.some(
    (rule) =>
      rule.tools.some((pattern) => toolWithin(request.tool, pattern)) &&
      rule.resources.some((selector) =>
        names.some((name) => resourceWithin(`${name.type}:${name.id}`, selector)),
      ) &&
      Object.entries(rule.arguments ?? {}).every(([at, limit]) =>
        allows(limit, pointed(request.arguments, pointerOf(at))),
      ),
  );
}

function toolWithin(name: string, pattern: string): boolean {
  if (pattern.endsWith(".*")) return name.startsWith(pattern.slice(0, -1));
  return name === pattern;
}

/** An id cannot hold a `*`, so `Type:*` is never the name of one resource. */
function resourceWithin(name: string, selector: string): boolean {
  if (selector.endsWith(":*")) return name.startsWith(selector.slice(0, -1));
  return name === selector;
}

function pointerOf(at: string): string {
  return at.startsWith("/") ? at : `/${at.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function allows(limit: ArgumentLimit, value: Json | undefined): boolean {
  if (value === undefined) return limit.required !== true;
  if (limit.min !== undefined && !(typeof value === "number" && value >= limit.min)) return false;
  if (limit.max !== undefined && !(typeof value === "number" && value <= limit.max)) return false;
  return limit.enum === undefined || limit.enum.some((each) => each === value);
}

/** The part of a tool that says to what its resources belong. */
export interface Belonging {
  readonly name: string;
  readonly resource: ResourceRule;
}

/**
 * Does the parent certainly cover whatever the child covers? Conservative: a "no" may be too careful, a "yes" is always true, as long as
 * the tools are the given ones. It is asked when a record is made; safety never rests on it, for every link is evaluated at each use.
 */
export function contains(
  child: readonly DelegationRule[],
  parent: readonly DelegationRule[],
  tools: readonly Belonging[] = [],
): boolean {
  return child.every((rule) =>
    rule.tools.every((tool) =>
      rule.resources.every((selector) =>
        parent.some(
          (above) =>
            above.tools.some((pattern) => patternWithin(tool, pattern)) &&
            above.resources.some((wider) => selectorWithin(selector, wider, tool, tools)) &&
            limitsWithin(rule.arguments ?? {}, above.arguments ?? {}),
        ),
      ),
    ),
  );
}

function patternWithin(pattern: string, wider: string): boolean {
  return pattern === wider || (wider.endsWith(".*") && pattern.startsWith(wider.slice(0, -1)));
}

function selectorWithin(selector: string, wider: string, tool: string, tools: readonly Belonging[]): boolean {
  if (selector === wider || (wider.endsWith(":*") && selector.startsWith(wider.slice(0, -1)))) return true;
  // A name space will hold tools that nobody knows yet: only for an exact name is it known to what its resources belong.
  const known = tools.find(({ name }) => name === tool);
  return (
    known !== undefined && ownersOf(selector, known.resource).some((owner) => resourceWithin(owner, wider))
  );
}

/** To what a resource of this tool belongs, read from its id; nothing where that is not certain. */
function ownersOf(selector: string, rule: ResourceRule): readonly string[] {
  const id = selector.startsWith(`${rule.type}:`) ? selector.slice(rule.type.length + 1) : "*";
  // The selector may also name an owner of another resource: of the same type as this tool's own, it is a different thing.
  if (id === "*" || rule.parents.some(({ type }) => type === rule.type)) return [];
  const names = [...rule.id.matchAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name ?? "");
  const literal = rule.id.split(/\{[A-Za-z_][A-Za-z0-9_]*\}/).map(escaped);
  // A slash is in no segment: between two of them an id has one reading only.
  if (literal.slice(1, -1).some((between) => !between.includes("/"))) return [];
  const found = new RegExp(`^${literal.join("([^/]+)")}$`).exec(id);
  if (found === null) return [];
  const args = Object.fromEntries(names.map((name, index) => [name, found[index + 1] ?? ""]));
  try {
    return resourceOf(rule, args).parents.map((owner) => `${owner.type}:${owner.id}`);
  } catch {
    return [];
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

type Limits = NonNullable<DelegationRule["arguments"]>;

function limitsWithin(child: Limits, parent: Limits): boolean {
  const own = new Map(Object.entries(child).map(([at, limit]) => [pointerOf(at), limit]));
  return Object.entries(parent).every(([at, limit]) => {
    const mine = own.get(pointerOf(at));
    return mine !== undefined && limitWithin(mine, limit);
  });
}

function limitWithin(child: ArgumentLimit, parent: ArgumentLimit): boolean {
  if (parent.required === true && child.required !== true) return false;
  // Each value that the child names must be one that it allows itself and the parent does not.
  if (child.enum !== undefined)
    return child.enum.every((value) => !allows(child, value) || allows(parent, value));
  if (parent.enum !== undefined) return false;
  if (parent.max !== undefined && !(child.max !== undefined && child.max <= parent.max)) return false;
  return parent.min === undefined || (child.min !== undefined && child.min >= parent.min);
}

export type ChainState =
  | { readonly ok: true; readonly endsAt?: Instant }
  | { readonly ok: false; readonly why: "revoked" | "expired" | "not_yet" | "broken"; readonly link: string };

/** Is this one unbroken chain, root first, of which every link stands at this moment? */
export function chainState(links: readonly Delegation[], clock: Instant): ChainState {
  let above: Delegation | undefined;
  for (const link of links) {
    if (!follows(link, above)) return { ok: false, why: "broken", link: link.id };
    if (link.revoked !== undefined) return { ok: false, why: "revoked", link: link.id };
    if (clock >= link.expiresAt) return { ok: false, why: "expired", link: link.id };
    if (clock < link.notBefore) return { ok: false, why: "not_yet", link: link.id };
    above = link;
  }
  return links.length === 0
    ? { ok: true }
    : { ok: true, endsAt: Math.min(...links.map((link) => link.expiresAt)) };
}

function follows(link: Delegation, above: Delegation | undefined): boolean {
  if (link.depth >= CHAIN_MAX || link.depth > link.depthMax) return false;
  if (above === undefined)
    return (
      link.parentId === undefined &&
      link.depth === 0 &&
      (link.by !== "principal" || link.delegator === link.principalId)
    );
  return (
    link.parentId === above.id &&
    link.tenantId === above.tenantId &&
    link.principalId === above.principalId &&
    link.by === "client" &&
    link.delegator === above.holder &&
    link.depth === above.depth + 1 &&
    link.depthMax <= above.depthMax
  );
}

/** May this session act under this chain? If not, it is answered exactly as if the record did not exist. */
export function holds(
  session: Pick<Session, "principalId" | "clientId" | "tenantId">,
  links: readonly Delegation[],
): boolean {
  const [root] = links;
  if (root === undefined || root.tenantId !== session.tenantId) return false;
  if (links.at(-1)?.holder !== session.clientId || root.principalId !== session.principalId) return false;
  // What an operator gave is for a service that acts for itself, and for nobody's agent.
  return root.by !== "operator" || serviceName(session) !== undefined;
}

const SILENT = { policies: [], requirements: [], obligations: [] } as const;

/** One voice for each link. A chain that does not stand denies, and says so; a link's end ends the permission. */
export function chainOpinions(
  links: readonly Delegation[],
  request: DelegatedRequest,
  clock: Instant,
): readonly Opinion[] {
  const state = chainState(links, clock);
  if (!state.ok) return [{ of: `delegation ${state.link}`, effect: "deny", ...SILENT, ...refusalOf(state) }];
  return links.map((link) => {
    const of = `delegation ${link.id}`;
    if (coversRequest(link.rules, request)) return { of, effect: "allow", ...SILENT, endsAt: link.expiresAt };
    return { of, effect: "deny", ...SILENT, why: `the delegation ${link.id} does not cover this` };
  });
}

function refusalOf({ why, link }: Extract<ChainState, { ok: false }>): Pick<Opinion, "why" | "reason"> {
  switch (why) {
    case "revoked":
      return { reason: "revoked", why: `the delegation ${link} was revoked` };
    case "expired":
      return { reason: "expired", why: `the delegation ${link} has ended` };
    case "not_yet":
      return { why: `the delegation ${link} has not begun` };
    case "broken":
      return { why: `the delegation ${link} does not follow from the one above it` };
  }
}

/** What one operation draws of every link that counts its uses. */
export function usesOf(links: readonly Pick<Delegation, "id" | "usesMax">[]): readonly Draw[] {
  return links.flatMap(({ id, usesMax }) =>
    usesMax === undefined
      ? []
      : [
          {
            name: `uses of the delegation ${id}`,
            room: JSON.stringify(["delegation", id]),
            amount: 1,
            max: usesMax,
            window: { kind: "ever" as const },
          },
        ],
  );
}
