import { onTestFinished } from "vitest";
import { httpConnector } from "../../src/connectors/http.ts";
import type { Guarantees } from "../../src/connectors/simulated/guarantees.ts";
import { type Simulated, startSimulated } from "../../src/connectors/simulated/provider.ts";
import type { Contract } from "../../src/core/contract.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { type Operation, settled } from "../../src/core/operation.ts";
import type { Tool } from "../../src/core/tool.ts";
import type { Connector } from "../../src/service/ports.ts";
import { preset } from "../connectors/errand.ts";
import { type DatabaseClock, movableClock } from "./clock.ts";
import { honestLedger } from "./honest-ledger.ts";
import { type Rig, type RigOptions, rig, STOCK_TOOL } from "./rig.ts";

/** Long enough for a busy machine, short against the jumps of the database's clock. */
const TIMES: JsonObject = {
  requestLife: "3s",
  maxPause: "2s",
  lease: "6s",
  settle: { bounded: "8s" },
  backoff: { first: "100ms", max: "1s" },
};
export const SETTLE_MS = 8_000;
export const LEASE_MS = 6_000;

/** What each contract promises, and what the simulated provider then keeps. */
export const KINDS = {
  key: {
    contract: preset("http/idempotency-key", TIMES),
    guarantees: { key: { retentionMs: null, after: "executes" } },
  },
  lookup: {
    contract: preset("http/marker-lookup", { ...TIMES, barrier: { kind: "none" } }),
    guarantees: { lookup: { lagMs: 0 } },
  },
  barrier: {
    contract: preset("http/marker-lookup", TIMES),
    guarantees: { lookup: { lagMs: 0 }, tombstone: true },
  },
  nothing: { contract: preset("http/no-guarantees", TIMES), guarantees: {} },
} as const satisfies Record<string, { contract: Contract; guarantees: Guarantees }>;

const STEPS_MAX = 30;

/** A relative effect at the provider: done twice, it is there twice. */
export function orderTool(contract: Contract, changes: Partial<Tool> = {}): Tool {
  return {
    ...STOCK_TOOL,
    name: "orders.place",
    title: "Place an order",
    provider: "shop",
    input: {
      type: "object",
      additionalProperties: false,
      required: ["order", "item", "quantity"],
      properties: {
        order: { type: "string" },
        item: { type: "string" },
        quantity: { type: "integer", minimum: 1 },
      },
    },
    resource: { type: "Order", id: "{order}", parents: [] },
    expectedVersion: "none",
    contract,
    ...changes,
  };
}

export interface Shop extends Rig {
  readonly provider: Simulated;
  readonly clock: DatabaseClock;
  /** Orders that the provider really took: its own journal, not our ledger. */
  orders(operation?: Pick<Operation, "id">): number;
  /** Takes the operation to each of its due times and does what is due there, until it is settled or waits for a person. */
  drive(operation: Operation): Promise<Operation>;
  place(order: string, more?: Parameters<Rig["ask"]>[1] & { quantity?: number }): Promise<Operation>;
}

export interface ShopOptions extends RigOptions {
  readonly of?: keyof typeof KINDS;
  readonly contract?: Contract;
  readonly guarantees?: Guarantees;
  readonly tool?: Partial<Tool>;
  /** Stands between the service and the provider's connector. */
  readonly through?: (connector: Connector) => Connector;
}

/** The whole service before a provider elsewhere: a real HTTP server with its own journal of effects. */
export async function shop(options: ShopOptions = {}): Promise<Shop> {
  const kind = KINDS[options.of ?? "key"];
  const provider = await startSimulated({ guarantees: options.guarantees ?? kind.guarantees });
  const connector = httpConnector({ base: provider.url, allowPrivate: ["127.0.0.1"] });
  onTestFinished(async () => {
    await connector.close();
    await provider.close();
  });
  provider.setItem("main/bolt", 1_000);
  const through = options.through?.(connector) ?? connector;
  const tool = orderTool(options.contract ?? kind.contract, options.tool);
  const here = await rig({ tools: [tool], connectors: { shop: through }, ...options });
  Object.assign(here.ports, { ledger: honestLedger(here.ledger) });
  const ordersOf = (operation?: Pick<Operation, "id">): number =>
    provider
      .journal()
      .filter((effect) => effect.kind === "order")
      .filter((effect) => operation === undefined || [effect.operation, effect.key].includes(operation.id))
      .length;
  const clock = await movableClock(here);
  return {
    ...here,
    provider,
    clock,
    orders: ordersOf,
    drive: async (operation) => {
      for (let steps = 0; steps < STEPS_MAX; steps++) {
        const read = await here.ledger.read(operation.tenantId, operation.id);
        const due = read?.value.dueAt;
        if (read === undefined || due === undefined || settled(read.value)) return read?.value ?? operation;
        await clock.ahead(Math.max(0, due - read.clock) + 1);
        await here.step(read.value);
      }
      return here.again(operation);
    },
    place: (order, { quantity = 1, ...more } = {}) =>
      here.done({ order, item: "main/bolt", quantity }, { tool: "orders.place", ...more }),
  };
}
