import { join } from "node:path";
import { compose } from "../compose.ts";
import { tenantId } from "../core/ids.ts";
import type { Context } from "./context.ts";
import { devConfiguration } from "./example.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { ledgerDatabase } from "./ledger-database.ts";
import { quietLog } from "./log.ts";

export interface TokenFlags {
  readonly principal?: string;
  readonly client?: string;
  readonly role?: readonly string[];
  readonly tenant?: string;
  readonly ttl: number;
}

/** `writ token`: a token of this folder's own issuer, on standard output and nowhere else. */
export async function token(context: Context, flags: TokenFlags): Promise<ExitCode> {
  const configuration = devConfiguration(context);
  const [first] = configuration.tenants;
  const tenant = flags.tenant === undefined ? first : tenantId(flags.tenant);
  if (tenant === undefined || !configuration.tenants.includes(tenant))
    throw new Stop(EXIT.usage, `--tenant: the tenants are ${configuration.tenants.join(", ")}`);
  const database = await ledgerDatabase(context, configuration, "attach");
  try {
    const writ = await compose({
      configuration,
      databaseUrl: database.url,
      home: join(context.folder, ".writ"),
      log: quietLog,
    });
    const text = await writ.mint({
      tenant,
      principal: flags.principal ?? "ada",
      client: flags.client ?? "agent-1",
      roles: flags.role ?? ["agent"],
      ttlS: flags.ttl,
    });
    await writ.close();
    if (!context.screen.machine({ token: text, tenant, expiresInSeconds: flags.ttl }))
      context.screen.data(text);
    return EXIT.ok;
  } finally {
    await database.close();
  }
}
