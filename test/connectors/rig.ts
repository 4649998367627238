import { afterEach } from "vitest";
import type { ContractConnector } from "../../src/connectors/contract-connector.ts";
import { type HttpSettings, httpConnector } from "../../src/connectors/http.ts";
import type { Guarantees } from "../../src/connectors/simulated/guarantees.ts";
import { type Simulated, startSimulated } from "../../src/connectors/simulated/provider.ts";

const open: (() => Promise<unknown>)[] = [];

/** Whatever a test opened is closed after it, also when it failed. */
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

export function closeAfter(close: () => Promise<unknown>): void {
  open.push(close);
}

/** A simulated provider with one item, "main/bolt", of which there are 20. */
export async function shop(guarantees: Guarantees = {}): Promise<Simulated> {
  const provider = await startSimulated({ guarantees });
  closeAfter(() => provider.close());
  provider.setItem("main/bolt", 20);
  return provider;
}

export function connectorTo(base: string, settings: Partial<HttpSettings> = {}): ContractConnector {
  const connector = httpConnector({ base, allowPrivate: ["127.0.0.1"], ...settings });
  closeAfter(() => connector.close());
  return connector;
}
