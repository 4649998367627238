import type { Action } from "../core/action.ts";
import type { Outcome } from "../core/attempt.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Current } from "../core/policy.ts";
import { Problem } from "../core/problem.ts";
import type { Tool } from "../core/tool.ts";
import { type Query, type Rows, statement } from "../database/sql.ts";
import type { Answered, LocalEffect, Statement } from "../service/ledger-port.ts";
import type { Connector, CurrentQuestion } from "../service/ports.ts";

/** One read of the ledger's database, which cannot write. */
export type Reading = (query: Query) => Promise<Rows<JsonObject>>;

/**
 * Effects in the ledger's own database. The tool's SQL is never rewritten but for its `:names`, which become parameters; claim, effect and
 * receipt are one commit, so there is nothing to look up and nothing in doubt.
 */
export function postgresConnector(reading?: Reading): Connector {
  const compiled = new Map<string, Compiled>();
  const compile = (text: string): Compiled => {
    const known = compiled.get(text) ?? compileSql(text);
    compiled.set(text, known);
    return known;
  };
  const never = async (): Promise<never> => {
    throw new Error("an effect in the ledger's database is performed by the ledger, in its own transaction");
  };
  return {
    kind: "postgres",
    localEffect: (action, tool) => localEffect(action, tool, compile),
    perform: never,
    lookUp: never,
    bar: never,
    ...(reading === undefined ? {} : { current: (question) => current(question, reading, compile) }),
  };
}

/** What the tool's own `sql.read` shows. A row without a version says nothing of one. */
async function current(
  { tool, tenantId, resource, arguments: args }: CurrentQuestion,
  reading: Reading,
  compile: (text: string) => Compiled,
): Promise<Current | undefined> {
  if (tool.sql?.read === undefined) return undefined;
  const asked = { tenantId, resource, arguments: args };
  const { rows } = await reading(bind(compile(tool.sql.read), asked));
  const [row] = rows;
  if (row === undefined) return undefined;
  const version = versionIn(row);
  return { value: row, ...(version === undefined ? {} : { version }) };
}

function localEffect(action: Action, tool: Tool, compile: (text: string) => Compiled): LocalEffect {
  if (tool.sql === undefined) throw new Problem("invalid", `${tool.name} has no sql.perform`);
  const read = tool.sql.read === undefined ? {} : { read: bind(compile(tool.sql.read), action) };
  return {
    perform: bind(compile(tool.sql.perform), action),
    ...read,
    rowsMax: 1,
    judge: (performed, found) => judge(action, performed, found),
    judgeError: (sqlState, message) => ({
      kind: "refused",
      reason: "provider_refused",
      detail: `${sqlState ?? "no SQLSTATE"}: ${message.slice(0, 300)}`,
    }),
  };
}

function judge(action: Action, performed: Answered, found: Answered | undefined): Outcome {
  if (performed.rowCount === 1) {
    const returned = performed.rows[0];
    const data: JsonObject = {
      resource: action.resource.id,
      ...(returned === undefined ? {} : { row: returned }),
    };
    return { kind: "confirmed", evidence: { kind: "row", data } };
  }
  const standing = found?.rows[0];
  if (found !== undefined && standing === undefined)
    return {
      kind: "refused",
      reason: "not_found",
      detail: `there is no ${action.resource.type} ${action.resource.id}`,
    };
  if (action.expectedVersion === undefined)
    return { kind: "refused", reason: "not_found", detail: "no row matched" };
  const version = standing === undefined ? undefined : versionIn(standing);
  return {
    kind: "refused",
    reason: "precondition_failed",
    detail: `version ${action.expectedVersion} is not the current one`,
    ...(version === undefined ? {} : { currentVersion: version }),
  };
}

function versionIn({ version }: JsonObject): string | undefined {
  return version === undefined || version === null || typeof version === "object"
    ? undefined
    : String(version);
}

/** A tool's SQL with numbered parameters and the name that fills each. */
interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
}

// Literals, quoted names, dollar quotes and comments are passed over; `::type` is a cast, not a name.
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$([A-Za-z_]*)\$[\s\S]*?\$\1\$|::|:([A-Za-z_][A-Za-z0-9_]*)|\$\d+|;/g;

/** A tool's SQL with the action's values as its parameters. Throws `invalid` for what `lintSql` complains of. */
export function statementOf(source: string, action: Action): Statement {
  return bind(compileSql(source), action);
}

/** Throws `invalid` for a second statement or a parameter that is already numbered. */
function compileSql(source: string): Compiled {
  const names: string[] = [];
  const text = source
    .trim()
    .replace(/;$/, "")
    .replaceAll(TOKEN, (token, _dollar: string | undefined, name: string | undefined) => {
      if (token === ";" || /^\$\d+$/.test(token))
        throw new Problem(
          "invalid",
          `a tool's SQL is one statement with :names for its values; "${token}" is refused`,
        );
      if (name === undefined) return token;
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
  return { text, names };
}

/** What a statement's names may stand for. */
type Bound = Pick<Action, "tenantId" | "resource" | "arguments"> & Partial<Action>;

function bind(compiled: Compiled, action: Bound): Statement & Query {
  return statement(
    compiled.text,
    compiled.names.map((name) => bound(name, action)),
  );
}

function bound(name: string, action: Bound): unknown {
  switch (name) {
    case "tenant":
      return action.tenantId;
    case "resource":
      return action.resource.id;
    case "operation":
      return action.operationId ?? null;
    case "expectedVersion":
      return action.expectedVersion ?? null;
    default:
      return parameter(action.arguments[name]);
  }
}

function parameter(value: Json | undefined): unknown {
  if (value === undefined || value === null) return null;
  return typeof value === "object" ? JSON.stringify(value) : value;
}

/** What a tool's SQL must be, said when it is loaded: every `:name` is known, and the tenant is always a condition. */
export function lintSql(tool: Tool): readonly string[] {
  if (tool.sql === undefined) return [`${tool.name} runs on PostgreSQL and needs sql.perform`];
  const properties = Object.keys((tool.input.properties ?? {}) as JsonObject); // JSON Schema: an object of schemas.
  const known = new Set(["tenant", "resource", "operation", "expectedVersion", ...properties]);
  const complaints: string[] = [];
  for (const [part, text] of Object.entries(tool.sql)) {
    const { names } = compileSql(text);
    for (const name of names)
      if (!known.has(name))
        complaints.push(
          `sql.${part} uses :${name}, which is neither an argument nor one of :tenant, :resource, :operation, :expectedVersion`,
        );
    if (!names.includes("tenant"))
      complaints.push(`sql.${part} must have "tenant_id = :tenant" among its conditions`);
  }
  if (tool.expectedVersion !== "none" && !compileSql(tool.sql.perform).names.includes("expectedVersion")) {
    complaints.push(
      `${tool.name} takes an expectedVersion, so sql.perform must have "version = :expectedVersion" among its conditions`,
    );
  }
  return complaints;
}
