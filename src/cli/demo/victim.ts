import { compose, localIssuer } from "../../compose.ts";
import type { Configuration } from "../../config.ts";
import { quietLog } from "../log.ts";

/** What the story tells the process that it will kill. */
export interface Orders {
  readonly configuration: Configuration;
  readonly databaseUrl: string;
  readonly home: string;
}

// A Writ like any other: the same database, the same keys, the same configuration. It gets them from its parent and ends with it.
process.once("message", (orders: Orders) => void serve(orders));
process.once("disconnect", () => process.exit(0));

async function serve({ configuration, databaseUrl, home }: Orders): Promise<void> {
  const writ = await compose({
    configuration,
    databaseUrl,
    home,
    issuers: [localIssuer({ home, tenants: configuration.tenants }).issuer],
    log: quietLog,
    worker: `writ-${process.pid}`,
  });
  const { url } = await writ.listen({ host: "127.0.0.1", port: 0 });
  process.send?.({ url });
}
