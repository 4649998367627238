import { tenantId } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { combine, type Decision, type PolicyFacts } from "../../src/core/policy.ts";
import type { Session } from "../../src/core/session.ts";
import type { Tool } from "../../src/core/tool.ts";
import { cedarEngine } from "../../src/policy/cedar.ts";
import { mistakesIn, policyDigest } from "../../src/policy/ruleset.ts";
import type { PolicyText } from "../../src/service/policy-port.ts";
import type { PolicyEngine, PolicyQuestion } from "../../src/service/ports.ts";
import { STOCK_TOOL } from "./rig.ts";

export const ACME = tenantId("acme");
export const ADA: Session = {
  tenantId: ACME,
  principalId: "https://issuer.example#ada",
  clientId: "agent-1",
  roles: ["clerk"],
  delegation: [],
};

/** Whoever has the role, through any client: what most tests begin with. */
export const PERMITS = `
@id("people") permit(principal is Writ::User, action in Writ::Action::"*", resource) when { principal.roles.contains("clerk") };
@id("clients") permit(principal is Writ::Service, action in Writ::Action::"*", resource) unless { context.itself };
@id("answers") permit(principal is Writ::User, action == Writ::Action::"approve", resource is Writ::Operation)
when { principal.roles.contains(context.requirement) };
`;

export function policy(...texts: readonly string[]): PolicyText {
  return { files: texts.map((text, index) => ({ name: `policies/${index + 1}.cedar`, text })) };
}

interface Asking {
  readonly session?: Partial<Session>;
  readonly tool?: Tool;
  readonly resource?: PolicyQuestion["resource"];
  readonly expectedVersion?: string;
}

export interface Cedar {
  readonly engine: PolicyEngine;
  readonly said: string[];
  ask(args: unknown, asking?: Asking): Promise<Decision>;
}

/** The engine over one text that stands, without a ledger. What it looks up is `facts`. */
export function cedar(
  text: PolicyText,
  {
    tools = [STOCK_TOOL],
    facts = {},
    stored = text,
  }: { tools?: readonly Tool[]; facts?: PolicyFacts; stored?: PolicyText | null } = {},
): Cedar {
  const said: string[] = [];
  const quiet = () => undefined;
  const engine = cedarEngine({
    store: { read: async () => stored ?? undefined },
    tools,
    environment: "production",
    look: {
      current: async () => facts.current,
      recent: async () => facts.recent ?? { denials: 0, conflicts: 0 },
    },
    log: { info: quiet, error: quiet, warn: (_event, fields) => void said.push(String(fields.why)) },
  });
  const policyVersion = `1.${policyDigest(text)}`;
  return {
    engine,
    said,
    ask: async (args, { session = {}, tool = STOCK_TOOL, resource, expectedVersion = "7" } = {}) => {
      const opinions = await engine.opinions({
        session: { ...ADA, ...session },
        tool,
        resource: resource ?? {
          type: "Item",
          id: "main/widget",
          parents: [{ type: "Warehouse", id: "main" }],
        },
        arguments: args as JsonObject,
        expectedVersion,
        authority: { epoch: 1, offered: "", halts: [], probes: [], policyVersion },
      });
      return combine(opinions, policyVersion, 1);
    },
  };
}

/** The mistakes of one file for the stock tool. */
export function mistakes(text: string, tools: readonly Tool[] = [STOCK_TOOL]): readonly string[] {
  return mistakesIn(policy(text), tools);
}

/** Arguments of the stock tool. */
export function stock(available: unknown): Record<string, unknown> {
  return { warehouse: "main", item: "widget", available };
}
