import type { Log } from "../service/ports.ts";
import { plain, type Screen } from "./screen.ts";

/** Says nothing: for a story that tells it all itself. */
export const quietLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** For people at a terminal: what went wrong in a line, and nothing of what went well. */
export function peopleLog({ tint, talk }: Screen): Log {
  const line = (colour: (text: string) => string, event: string, fields: object): void => {
    const said = Object.entries(fields).map(
      ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    talk(`${colour(event)}  ${tint.dim(plain(said.join(" · ")))}`);
  };
  return {
    info: () => undefined,
    warn: (event, fields) => line(tint.yellow, event, fields),
    error: (event, fields) => line(tint.red, event, fields),
  };
}
