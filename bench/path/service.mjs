// The whole service: the real HTTP door in this process.
import { compose, localIssuer } from "../../dist/compose.js";
import { serve } from "./child.mjs";
import { configuration, TENANT } from "./offer.mjs";
import { quiet } from "./quiet.mjs";

await serve(async ({ url, home, shop }) => {
  const offered = configuration(shop);
  const issuer = localIssuer({ home, tenants: offered.tenants });
  const writ = await compose({
    configuration: offered,
    databaseUrl: url,
    home,
    log: quiet,
    issuers: [issuer.issuer],
  });
  const door = await writ.listen();
  const token = await issuer.mint({
    tenant: TENANT,
    principal: "ada",
    client: "agent-7",
    roles: ["agent"],
    ttlS: 3600,
  });
  return { ready: () => ({ url: door.url, token }), end: () => writ.close() };
});
