import type { Tool } from "../core/tool.ts";
import type { PolicyFile, PolicyText } from "../service/policy-port.ts";
import { groupsOf } from "./model.ts";

/** Which tools each role may propose: exact names, or a prefix ending in `*`. What no role names is denied. */
export type RoleTools = Readonly<Record<string, readonly string[]>>;

/** What an installation's folder says of policy. */
export interface WrittenPolicy {
  readonly policies: readonly PolicyFile[];
  readonly roles: RoleTools;
  readonly tools: readonly Tool[];
}

/** Its files, and its `roles:` as Cedar. */
export function installationPolicy({ policies, roles, tools }: WrittenPolicy): PolicyText {
  const names = tools.map(({ name }) => name);
  return { files: [...policies, ...shortForm(roles, names, policies.length === 0)] };
}

/**
 * `roles:` of writ.yaml as Cedar. `alone`: there is no other policy, so clients may act for people, and people answer for the roles that
 * they hold. A service that acts for itself is permitted by none of this.
 */
function shortForm(roles: RoleTools, tools: readonly string[], alone: boolean): readonly PolicyFile[] {
  const permits = Object.entries(roles).flatMap(([role, patterns]) => permitOf(role, patterns, tools) ?? []);
  if (permits.length === 0) return [];
  return [{ name: "writ.yaml#roles", text: [...permits, ...(alone ? ALONE : [])].join("\n") }];
}

function permitOf(role: string, patterns: readonly string[], tools: readonly string[]): string | undefined {
  const groups = new Set(tools.flatMap(groupsOf));
  const actions = [...new Set(patterns.flatMap((pattern) => actionsFor(pattern, tools, groups)))];
  if (actions.length === 0) return undefined;
  const named = actions.map((action) => `Writ::Action::${JSON.stringify(action)}`).join(", ");
  return `@id(${JSON.stringify(`roles.${role}`)})
permit(principal is Writ::User, action in [${named}], resource)
when { principal.roles.contains(${JSON.stringify(role)}) };
`;
}

/** A pattern that names a group stays one, so that a tool which comes later is in it. */
function actionsFor(
  pattern: string,
  tools: readonly string[],
  groups: ReadonlySet<string>,
): readonly string[] {
  if (!pattern.endsWith("*")) return [pattern];
  if (pattern === "*" || groups.has(pattern)) return [pattern];
  return tools.filter((tool) => tool.startsWith(pattern.slice(0, -1)));
}

const ALONE = [
  `@id("roles.clients")
permit(principal is Writ::Service, action in Writ::Action::"*", resource)
unless { context.itself };
`,
  `@id("roles.approve")
permit(principal is Writ::User, action == Writ::Action::"approve", resource is Writ::Operation)
when { context.by == "second_person" && principal.roles.contains(context.requirement) };
`,
  `@id("roles.confirm")
permit(principal is Writ::User, action == Writ::Action::"approve", resource is Writ::Operation)
when { context.by == "principal" && resource.onBehalfOf == principal };
`,
];
