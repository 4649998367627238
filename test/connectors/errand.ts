import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Action } from "../../src/core/action.ts";
import type { Contract } from "../../src/core/contract.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import { digestOf } from "../../src/core/digest.ts";
import { operationIdOf } from "../../src/core/ids.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { Tool } from "../../src/core/tool.ts";
import type { Errand } from "../../src/service/ports.ts";

/** The written form of a preset, with some members replaced. */
export function preset(name: string, changes: JsonObject = {}): Contract {
  const text = readFileSync(new URL(`../../presets/${name}.yaml`, import.meta.url), "utf8");
  return parseContract({ ...(parse(text) as JsonObject), ...changes });
}

/** Presets promise minutes; tests do not wait for them. A busy machine may need seconds where silence is not what is tested. */
export function living(requestLife: "250ms" | "5s"): JsonObject {
  return { requestLife, maxPause: "100ms", lease: "6s", settle: { bounded: "6s" } };
}

export interface ErrandChoices {
  readonly arguments?: JsonObject;
  readonly resource?: string;
  readonly expectedVersion?: string;
  readonly attempt?: number;
  readonly gate?: () => boolean;
  readonly signal?: AbortSignal;
  /** The same number is the same operation. */
  readonly operation?: number;
  readonly tenant?: string;
}

/** A tool of which only the contract matters: its resource is the argument "item", and nothing stands between a proposal and its effect. */
export function toolWith(
  contract: Contract,
  changes: Partial<Tool> & Pick<Tool, "name" | "title" | "provider">,
): Tool {
  return {
    input: { type: "object" },
    resource: { type: "Item", id: "{item}", parents: [] },
    expectedVersion: "none",
    contract,
    permissionForMs: 60_000,
    reviewForMs: 60_000,
    autonomy: "allowed",
    lookalikes: "off",
    intentKey: "optional",
    reversible: true,
    ...changes,
  };
}

/** One attempt of one operation under a contract, as the service would hand it over. */
export function errandOf(contract: Contract, choices: ErrandChoices = {}): Errand {
  const tool = toolWith(contract, {
    name: "shop.change",
    title: "Change something in the shop",
    provider: "shop",
    expectedVersion: "optional",
  });
  const action: Action = {
    v: 1,
    operationId: operationIdOf(`00000000-0000-7000-8000-${String(choices.operation ?? 1).padStart(12, "0")}`),
    tenantId: choices.tenant ?? "acme",
    principalId: "ann",
    clientId: "agent",
    delegation: [],
    tool: tool.name,
    toolDigest: "sha-256:tool",
    provider: { name: "shop", settingsDigest: "sha-256:settings" },
    resource: { type: "Item", id: choices.resource ?? "main/bolt", parents: [] },
    arguments: choices.arguments ?? { item: "main/bolt", quantity: 2 },
    ...(choices.expectedVersion === undefined ? {} : { expectedVersion: choices.expectedVersion }),
    salt: "salt",
  };
  return {
    action,
    digest: digestOf("test", action as unknown as Json), // An Action is plain JSON.
    contract,
    tool,
    attempt: choices.attempt ?? 1,
    authorizedAt: 1_767_225_600_000,
    firstSentAt: 1_767_225_601_000,
    signal: choices.signal ?? new AbortController().signal,
    gate: choices.gate ?? (() => true),
  };
}
