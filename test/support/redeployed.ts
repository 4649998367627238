import { catalog, definitionsOf } from "../../src/catalog/catalog.ts";
import { postgresConnector } from "../../src/connectors/postgres.ts";
import type { Tool } from "../../src/core/tool.ts";
import type { Connector, Ports } from "../../src/service/ports.ts";
import { instance } from "./instance.ts";
import type { Rig } from "./rig.ts";

export interface Deployment {
  readonly tools: readonly Tool[];
  readonly connectors?: Readonly<Record<string, Connector>>;
  /** What the settings of each provider are called by content; another credential is another name. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A process of a later deployment on the same database: other tools, or other settings, than the one before it. */
export async function redeployed(
  here: Pick<Rig, "url" | "ports" | "session">,
  deployment: Deployment,
): Promise<Ports> {
  const { ports, ledger } = await instance(here, "later");
  const { tools, settings = {} } = deployment;
  await ledger.enroll(here.session.tenantId, definitionsOf(tools));
  const connectors = { stock: postgresConnector(), ...deployment.connectors };
  const providers = new Map(
    Object.entries(connectors).map(([name, connector]) => [
      name,
      { connector, settingsDigest: settings[name] ?? `sha-256:${name}` },
    ]),
  );
  return {
    ...ports,
    catalog: catalog({
      tools,
      providers,
      tenantKeys: new Map([[here.session.tenantId, Buffer.alloc(32, 7)]]),
      ledger,
    }),
  };
}
