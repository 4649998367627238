import { parseArgs } from "node:util";
import { parseGuarantees } from "./guarantees.ts";
import { startSimulated } from "./provider.ts";

/**
 * The simulated provider as a process of its own: `node dist/connectors/simulated/main.js --port 4100 --guarantees '{"etag":"strong"}'
 * [--journal FILE] [--item main/bolt=20]`. Prints one line of JSON with its address when it listens.
 */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    guarantees: { type: "string", default: "{}" },
    journal: { type: "string" },
    item: { type: "string", multiple: true, default: [] },
  },
});

const provider = await startSimulated({
  guarantees: parseGuarantees(values.guarantees),
  port: Number(values.port),
  ...(values.journal === undefined ? {} : { journalPath: values.journal }),
});
for (const item of values.item) {
  const [resource = "", available] = item.split("=");
  // A restarted provider keeps the items that its journal knows.
  if (!provider.journal().some((effect) => effect.resource === resource))
    provider.setItem(resource, Number(available ?? 0));
}
process.stdout.write(`${JSON.stringify({ url: provider.url, pid: process.pid })}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void provider.close());
