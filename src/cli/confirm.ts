import { createInterface } from "node:readline/promises";
import { EXIT, Stop } from "./exit.ts";
import type { Screen } from "./screen.ts";

/** Goes on when a person typed yes, or said so before. Where nobody can be asked it names the flag and changes nothing. */
export async function confirmed(
  screen: Screen,
  yes: boolean,
  what: string,
  otherwise: string,
): Promise<void> {
  if (yes) return;
  if (!screen.asks) throw new Stop(EXIT.usage, `${what}, and nobody can be asked here: add --yes`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question("Type yes to let it stand: ");
  lines.close();
  if (answer.trim() !== "yes") throw new Stop(EXIT.error, otherwise);
}
