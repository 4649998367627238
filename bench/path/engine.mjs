// The engine without a door: compose()'s own ports, and propose() called in this process.
import { compose } from "../../dist/compose.js";
import { proposal } from "../../dist/core/proposal.js";
import { propose } from "../../dist/service/propose.js";
import { serve } from "./child.mjs";
import { loader } from "./load.mjs";
import { configuration, TENANT } from "./offer.mjs";
import { quiet } from "./quiet.mjs";

await serve(async ({ url, home, shop }) => {
  const writ = await compose({ configuration: configuration(shop), databaseUrl: url, home, log: quiet });
  const session = {
    tenantId: TENANT,
    principalId: "https://bench.writ.example#ada",
    clientId: "agent-7",
    roles: ["agent"],
    delegation: [],
  };
  const once = async ({ claims, key }) => {
    const proposed = await propose(writ.ports, session, proposal(claims, key));
    const operation = (await proposed.done) ?? proposed.operation;
    if (operation.state !== "succeeded") throw new Error(`${operation.state} ${operation.reason ?? ""}`);
  };
  return { run: loader(once), end: () => writ.close() };
});
