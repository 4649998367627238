import { digestOf } from "../../src/core/digest.ts";
import type { Opinion } from "../../src/core/policy.ts";
import type { RoleTools } from "../../src/policy/short-form.ts";
import type { PolicyEngine } from "../../src/service/ports.ts";

/** Policy without an engine, for what needs no more: a tool allow-list for each role, asked for the principal of a session. */
export function rolePolicy(roles: RoleTools): PolicyEngine {
  const version = digestOf("writ.policy.roles.v1", roles as Record<string, string[]>); // readonly in the type only.
  return {
    version: () => version,
    opinions: async ({ session, tool }) => [opinionOf(roles, session.roles, tool.name)],
    // Who confirms their own change needs no role for it.
    approves: async ({ session, requirement }) =>
      requirement.by === "principal" || session.roles.includes(requirement.role),
  };
}

function opinionOf(roles: RoleTools, held: readonly string[], tool: string): Opinion {
  const speaking = held.filter(
    (role) => Object.hasOwn(roles, role) && roles[role]?.some((pattern) => matches(pattern, tool)),
  );
  const silent = { of: "principal", requirements: [], obligations: [] };
  if (speaking.length === 0)
    return { ...silent, effect: "deny", policies: [], why: `no role of this session may use ${tool}` };
  return { effect: "allow", policies: speaking.map((role) => `role.${role}`), ...silent };
}

function matches(pattern: string, tool: string): boolean {
  return pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;
}
