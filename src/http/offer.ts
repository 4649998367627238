import type { OfferedTool } from "../service/ports.ts";
import { contractsAnswer, toolAnswer } from "../wire/answers.ts";
import { ContractsAnswer, ProvidersAnswer, ToolsAnswer } from "../wire/offer.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

/** What is offered to the caller's tenant, and what stands behind it. */
export function offerRoutes(app: App, door: Door): void {
  app.get(
    "/v1/tools",
    { config: { permission: "session" }, schema: offered("listTools", "The tools on offer", ToolsAnswer) },
    async (request) => ({
      tools: door.ports.catalog
        .offered(sessionOf(request).tenantId)
        .map(({ tool, digest }) => toolAnswer(tool, digest)),
    }),
  );
  app.get(
    "/v1/providers",
    {
      config: { permission: "session" },
      schema: offered("listProviders", "The providers behind them", ProvidersAnswer),
    },
    async (request) => providersAnswer(door.ports.catalog.offered(sessionOf(request).tenantId)),
  );
  app.get(
    "/v1/contracts",
    {
      config: { permission: "session" },
      schema: offered("listContracts", "What those guarantee", ContractsAnswer),
    },
    async (request) =>
      contractsAnswer(door.ports.catalog.offered(sessionOf(request).tenantId).map(({ tool }) => tool)),
  );
}

function offered(name: string, summary: string, schema: object) {
  return {
    querystring: NO_QUERY,
    ...described({
      name,
      summary,
      tag: "offer",
      answers: { 200: json("Everything on offer.", schema) },
      refusals: REFUSALS.offer,
    }),
  };
}

function providersAnswer(tools: readonly OfferedTool[]): ProvidersAnswer {
  const byName = new Map<string, ProvidersAnswer["providers"][number]>();
  for (const { tool, connector, settingsDigest } of tools) {
    const known = byName.get(tool.provider)?.tools ?? [];
    byName.set(tool.provider, {
      name: tool.provider,
      kind: connector.kind,
      settingsDigest,
      tools: [...known, tool.name],
    });
  }
  return { providers: [...byName.values()] };
}
