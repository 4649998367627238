// `npm run bench` names the measurements; `npm run bench -- NAME …` runs bench/NAME.mjs with what follows.
import { readdirSync } from "node:fs";

const NAMES = readdirSync(new URL(".", import.meta.url))
  .filter((file) => file.endsWith(".mjs") && file !== "run.mjs")
  .map((file) => file.slice(0, -".mjs".length));
const [name, ...rest] = process.argv.slice(2);

if (name === undefined) console.log(NAMES.length === 0 ? "There is no measurement yet." : NAMES.join("\n"));
else if (NAMES.includes(name)) {
  const file = new URL(`${name}.mjs`, import.meta.url);
  process.argv = [process.execPath, file.pathname, ...rest];
  await import(file.href);
} else {
  console.error(`There is no measurement "${name}". There are: ${NAMES.join(", ") || "none yet"}.`);
  process.exitCode = 1;
}
