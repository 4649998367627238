// `npm run conformance:providers`: every connector with its contract on every real server that is here, directly and over a wire that
// is cut, with the effects counted at the server. Prints one table. `-- -o json` prints the rows for a machine,
// `-- --write` puts the table into docs/conformance.md.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { output: { type: "string", short: "o", default: "table" }, write: { type: "boolean" } },
});
const how = values.write ? "write" : values.output;
if (!["table", "json", "write"].includes(how)) {
  console.error(`-o ${how}: write table or json`);
  process.exit(2);
}
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, "run", "--mode", "conformance"], {
  env: { ...process.env, WRIT_CONFORMANCE: how },
  stdio: ["ignore", "inherit", "inherit"],
});
process.exitCode = status ?? 1;
