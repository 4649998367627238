import { readFileSync } from "node:fs";

/** One request as the server itself wrote it down when it had ended. */
export interface Logged {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly agent: string;
}

/** Reads lines of the form `PUT /path 204 agent`. A line that is only half written is left for the next time. */
export function accessLog(file: string): readonly Logged[] {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.flatMap((line) => {
    const [, method = "", path = "", status = "", agent = ""] =
      /^([A-Z]+) (\S+) (\d{3}) (.*)$/.exec(line) ?? [];
    return method === "" ? [] : [{ method, path, status: Number(status), agent }];
  });
}
