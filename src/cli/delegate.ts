import type { DelegationAnswer, DelegationBody } from "../wire/delegation.ts";
import { type Context, connected } from "./context.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { ago, facts, table } from "./print.ts";

export interface DelegateFlags {
  readonly to?: string;
  readonly tool?: readonly string[];
  readonly resource?: readonly string[];
  readonly limit?: readonly string[];
  readonly rules?: string;
  readonly for?: number;
  readonly uses?: number;
  readonly depth?: number;
  readonly service?: string;
  readonly reason?: string;
}

/** `writ delegate`: the client may act under it as soon as its token names it. */
export async function delegate(context: Context, flags: DelegateFlags): Promise<ExitCode> {
  const made = await connected(context, flags.service === undefined ? "agent" : "operator").delegate(
    bodyOf(flags),
  );
  const { screen } = context;
  if (screen.machine(made)) return EXIT.ok;
  screen.data(
    facts(screen, [
      ["delegation", made.id],
      ["to", made.holder],
      ["of", made.principal],
      ["by", made.delegator],
      ["until", made.expiresAt],
      ["rules", made.rules.map(ruleText).join("; ")],
    ]),
  );
  screen.talk(`End it with: writ revoke --delegation ${made.id} --reason <why>`);
  return EXIT.ok;
}

function bodyOf(flags: DelegateFlags): DelegationBody {
  const { to, uses, depth, service, reason } = flags;
  if (to === undefined) throw new Stop(EXIT.usage, "--to is missing: which client may act under it");
  if (flags.for === undefined) throw new Stop(EXIT.usage, "--for is missing: how long it lasts, such as 8h");
  return {
    holder: to,
    rules: rulesOf(flags),
    lastsSeconds: flags.for,
    ...(uses === undefined ? {} : { uses }),
    ...(depth === undefined ? {} : { depth }),
    ...(service === undefined ? {} : { service }),
    ...(reason === undefined ? {} : { reason }),
  };
}

type Rule = DelegationBody["rules"][number];
type Limits = NonNullable<Rule["arguments"]>;

function rulesOf({ rules, tool = [], resource = [], limit = [] }: DelegateFlags): Rule[] {
  if (rules !== undefined) {
    if (tool.length + resource.length + limit.length > 0)
      throw new Stop(EXIT.usage, "--rules says everything: leave out --tool, --resource and --limit");
    return parsedRules(rules);
  }
  if (tool.length === 0) throw new Stop(EXIT.usage, "--tool is missing: which tools, such as inventory.*");
  if (resource.length === 0)
    throw new Stop(EXIT.usage, "--resource is missing: of which resources, such as Order:*");
  const limits = limitsOf(limit);
  return [
    { tools: [...tool], resources: [...resource], ...(limits === undefined ? {} : { arguments: limits }) },
  ];
}

function parsedRules(text: string): Rule[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value as Rule[]; // Writ itself says what is wrong in them.
  } catch {
    // Told below.
  }
  throw new Stop(EXIT.usage, `--rules is not a JSON list: ${text.slice(0, 60)}`);
}

const LIMIT = /^(?<name>[^<>=]+)(?<sign><=|>=|=)(?<value>.+)$/;

function limitsOf(texts: readonly string[]): Limits | undefined {
  const limits: Limits = {};
  for (const text of texts) {
    const { name = "", sign, value = "" } = LIMIT.exec(text)?.groups ?? {};
    if (sign === undefined)
      throw new Stop(EXIT.usage, `--limit ${text} is not like "quantity<=5", "quantity>=1" or "kind=a,b"`);
    limits[name] = { ...limits[name], ...bound(text, sign, value) };
  }
  return texts.length === 0 ? undefined : limits;
}

function bound(text: string, sign: string, value: string): Limits[string] {
  if (sign === "=") return { enum: value.split(",").map(scalar) };
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Stop(EXIT.usage, `--limit ${text}: "${value}" is not a number`);
  return sign === "<=" ? { max: number } : { min: number };
}

/** Numbers, booleans and null as JSON; everything else is text. */
function scalar(text: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || ["number", "boolean", "string"].includes(typeof value)) return value as string;
  } catch {
    // It is a text.
  }
  return text;
}

function ruleText({ tools, resources, arguments: limits = {} }: Rule): string {
  const said = Object.entries(limits).map(([name, limit]) => `${name} ${JSON.stringify(limit)}`);
  return [`${tools.join(", ")} on ${resources.join(", ")}`, ...said].join(", ");
}

export async function delegateList(
  context: Context,
  { holder, all }: { readonly holder?: string; readonly all?: boolean },
): Promise<ExitCode> {
  const page = await connected(context, "agent").delegations({
    ...(holder === undefined ? {} : { holder }),
    ...(all === true ? {} : { standing: true }),
  });
  const { screen } = context;
  if (screen.machine(screen.format === "jsonl" ? page.delegations : page)) return EXIT.ok;
  if (page.delegations.length === 0) screen.talk("Nothing is delegated.");
  else screen.data(table(screen, page.delegations, COLUMNS));
  if (page.cursor !== undefined) screen.talk("There are more than these.");
  return EXIT.ok;
}

const COLUMNS = [
  { title: "delegation", of: (row: DelegationAnswer) => row.id },
  { title: "to", of: (row: DelegationAnswer) => row.holder },
  { title: "by", of: (row: DelegationAnswer) => row.delegator, gives: true },
  { title: "given", of: (row: DelegationAnswer) => ago(row.createdAt, Date.now()) },
  {
    title: "until",
    of: (row: DelegationAnswer) =>
      row.revoked === undefined ? row.expiresAt : `revoked: ${row.revoked.reason}`,
    gives: true,
  },
];
