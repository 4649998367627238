import type {
  ActionType,
  EntityType,
  SchemaJson,
  Type,
  TypeOfAttribute,
} from "@cedar-policy/cedar-wasm/nodejs";
import { Problem } from "../core/problem.ts";
import type { Tool } from "../core/tool.ts";
import { type Kind, type Visible, visible } from "./schema.ts";

/** The namespace of everything that policy speaks about. */
export const NAMESPACE = "Writ";
/** The action of a person who answers for a requirement. */
export const APPROVE = "approve";
/** Every tool. Each beginning that ends in a dot is a group as well: `inventory.*`. */
const EVERY_TOOL = "*";

const OWN_TYPES = new Set(["User", "Service", "Tenant", "Operation", "Action"]);
// Words that Cedar's grammar keeps for itself.
const RESERVED = new Set([
  "true",
  "false",
  "if",
  "then",
  "else",
  "in",
  "is",
  "like",
  "has",
  "permit",
  "forbid",
  "when",
  "unless",
]);

/** What a slice's context holds beside the arguments; both cost a question to somebody else, so only where a policy asks for them. */
export interface Asked {
  readonly current: boolean;
  readonly recent: boolean;
}
const EVERYTHING: Asked = { current: true, recent: true };

export type Schema = SchemaJson<string>;

/** The schema that policies are validated against: every tool, and the action `approve`. Throws `invalid` for a resource type that is Writ's own. */
export function schemaOf(tools: readonly Tool[]): Schema {
  const actions: Record<string, ActionType<string>> = { [EVERY_TOOL]: {}, [APPROVE]: approveAction() };
  for (const tool of tools) {
    if (tool.name === APPROVE)
      throw new Problem("invalid", `policy knows "${APPROVE}" as what people do: name the tool otherwise`);
    for (const group of groupsOf(tool.name)) actions[group] ??= groupAction(group);
    actions[tool.name] = toolAction(tool, visible(tool.input), EVERYTHING);
  }
  return { [NAMESPACE]: { entityTypes: { ...ownTypes(), ...resourceTypes(tools) }, actions } };
}

/** The schema of one tool's requests, as small as it can be: each evaluation copies it. Its groups stand in it, or no rule for them would fit. */
export function toolSchema(tool: Tool, asked: Asked): Schema {
  const groups = groupsOf(tool.name).map((group) => [group, groupAction(group)] as const);
  const actions = {
    ...Object.fromEntries(groups),
    [tool.name]: toolAction(tool, visible(tool.input), asked),
  };
  return { [NAMESPACE]: { entityTypes: { ...ownTypes(), ...resourceTypes([tool]) }, actions } };
}

export function approveSchema(): Schema {
  return { [NAMESPACE]: { entityTypes: ownTypes(), actions: { [APPROVE]: approveAction() } } };
}

/** The groups that hold a tool: `*`, and each beginning of its name that ends in a dot. */
export function groupsOf(tool: string): readonly string[] {
  const steps = tool.split(".").slice(0, -1);
  return [EVERY_TOOL, ...steps.map((_, index) => `${steps.slice(0, index + 1).join(".")}.*`)];
}

function groupAction(group: string): ActionType<string> {
  const above = groupsOf(group.slice(0, -2)).filter((name) => name !== group);
  return group === EVERY_TOOL ? {} : { memberOf: above.map((id) => ({ id })) };
}

function toolAction(tool: Tool, { record }: Visible, asked: Asked): ActionType<string> {
  return {
    memberOf: groupsOf(tool.name).map((id) => ({ id })),
    appliesTo: {
      principalTypes: ["User", "Service"],
      resourceTypes: [tool.resource.type],
      context: recordType({
        input: required(typeOf(record)),
        expectedVersion: optional({ type: "String" }),
        reversible: required({ type: "Boolean" }),
        contract: required(
          recordType({ strength: required({ type: "String" }), condition: required({ type: "String" }) }),
        ),
        drill: required({ type: "String" }),
        environment: required({ type: "String" }),
        itself: required({ type: "Boolean" }),
        onBehalfOf: optional({ type: "String" }),
        client: required({ type: "String" }),
        clients: required({ type: "Set", element: { type: "String" } }),
        ...(asked.current ? { current: optional(currentType(record)) } : {}),
        ...(asked.recent ? { recent: required(RECENT) } : {}),
      }),
    },
  };
}

/** What stands there now: its version, and what carries an argument's name, in that argument's kind. */
export function currentKind(record: Visible["record"]): Visible["record"] {
  const members = [...record.members].map(([name, { is }]) => [name, { is, required: false }] as const);
  return { kind: "Record", members: new Map(members) };
}

function currentType(record: Visible["record"]): Type<string> {
  return recordType({ version: optional({ type: "String" }), value: required(typeOf(currentKind(record))) });
}

const RECENT = recordType({ denials: required({ type: "Long" }), conflicts: required({ type: "Long" }) });

function approveAction(): ActionType<string> {
  return {
    appliesTo: {
      principalTypes: ["User"],
      resourceTypes: ["Operation"],
      context: recordType({
        requirement: required({ type: "String" }),
        policy: required({ type: "String" }),
        by: required({ type: "String" }),
        environment: required({ type: "String" }),
      }),
    },
  };
}

function ownTypes(): Record<string, EntityType<string>> {
  const tenant = required({ type: "Entity", name: `${NAMESPACE}::Tenant` });
  const user: Type<string> = { type: "Entity", name: `${NAMESPACE}::User` };
  const texts: Type<string> = { type: "Set", element: { type: "String" } };
  const roles = required(texts);
  const text = required({ type: "String" });
  return {
    Tenant: {},
    User: {
      memberOfTypes: ["Tenant"],
      shape: recordType({ tenant, roles, issuer: text, subject: text }),
    },
    Service: { memberOfTypes: ["Tenant"], shape: recordType({ tenant, roles, name: text }) },
    Operation: {
      memberOfTypes: ["Tenant"],
      shape: recordType({
        tenant,
        tool: text,
        target: text,
        onBehalfOf: required(user),
        delegators: required({ type: "Set", element: user }),
        client: text,
      }),
    },
  };
}

function resourceTypes(tools: readonly Tool[]): Record<string, EntityType<string>> {
  const above = new Map<string, Set<string>>();
  for (const { resource, name } of tools) {
    const parents = resource.parents.map(({ type }) => type);
    for (const type of [resource.type, ...parents]) refuseOwn(type, name);
    for (const type of parents) if (!above.has(type)) above.set(type, new Set());
    const known = above.get(resource.type) ?? new Set();
    for (const type of parents) known.add(type);
    above.set(resource.type, known);
  }
  const attributes = {
    tenant: required({ type: "Entity", name: `${NAMESPACE}::Tenant` }),
    name: required({ type: "String" }),
  };
  return Object.fromEntries(
    [...above].map(([type, parents]) => [
      type,
      { memberOfTypes: [...parents, "Tenant"], shape: recordType(attributes) },
    ]),
  );
}

function refuseOwn(type: string, tool: string): void {
  if (OWN_TYPES.has(type) || RESERVED.has(type))
    throw new Problem(
      "invalid",
      `${tool}: a resource cannot be of the type ${type}, which policy knows as something else`,
    );
}

function typeOf(kind: Kind): Type<string> {
  switch (kind.kind) {
    case "String":
    case "Long":
    case "Boolean":
      return { type: kind.kind };
    case "decimal":
      return { type: "Extension", name: "decimal" };
    case "Set":
      return { type: "Set", element: typeOf(kind.element) };
    case "Record": {
      const attributes: Record<string, TypeOfAttribute<string>> = {};
      for (const [name, member] of kind.members)
        attributes[name] = { ...typeOf(member.is), required: member.required };
      return recordType(attributes);
    }
  }
}

function recordType(attributes: Record<string, TypeOfAttribute<string>>): Type<string> {
  return { type: "Record", attributes };
}

function required(type: Type<string>): TypeOfAttribute<string> {
  return { ...type, required: true };
}

function optional(type: Type<string>): TypeOfAttribute<string> {
  return { ...type, required: false };
}
