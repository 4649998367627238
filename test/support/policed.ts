import { postgresConnector } from "../../src/connectors/postgres.ts";
import type { Database } from "../../src/database/pool.ts";
import { postgresPolicies } from "../../src/ledger/policies.ts";
import { cedarEngine, policyBench } from "../../src/policy/cedar.ts";
import { firstPolicy } from "../../src/policy/first.ts";
import { lookFor } from "../../src/service/looking.ts";
import type { Policies, PolicyText } from "../../src/service/policy-port.ts";
import type { Ports } from "../../src/service/ports.ts";
import { type Rig, type RigOptions, rig, STOCK_TOOL } from "./rig.ts";

export interface Policed extends Rig {
  readonly policies: Policies;
}

/** A rig whose policy is Cedar, kept in its ledger: this text is the first that stands. */
export async function policed(first: PolicyText, options: RigOptions = {}): Promise<Policed> {
  let database: Database | undefined;
  const stock = postgresConnector((query) =>
    database === undefined ? Promise.reject(new Error("the rig is not ready")) : database.read(query),
  );
  const here = await rig({ ...options, connectors: { stock, ...options.connectors } });
  database = here.database;
  const { policies, policy } = policyPorts(here, options);
  await firstPolicy({ policies, ledger: here.ledger, log: here.ports.log }, here.session.tenantId, first);
  // The rig's own verbs ask what stands in its ports.
  Object.assign(here.ports as { policy: Ports["policy"]; policies?: Policies }, { policy, policies });
  await here.ports.authority.refresh(here.session.tenantId);
  return { ...here, policies };
}

/** Policy as one process has it. */
export function policyPorts(
  { database, ports }: Pick<Rig, "database" | "ports">,
  { tools = [STOCK_TOOL] }: Pick<RigOptions, "tools"> = {},
): { readonly policies: Policies; readonly policy: Ports["policy"] } {
  const store = postgresPolicies(database);
  const environment = "production";
  const bench = policyBench({ tools, environment, log: ports.log });
  const look = lookFor(ports.catalog, store);
  return {
    policies: { store, bench },
    policy: cedarEngine({ store, tools, environment, look, log: ports.log }),
  };
}
