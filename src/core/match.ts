import type { Match } from "./contract.ts";
import type { Json } from "./json.ts";

/** Is the condition about an answer? One that names a phase is about a silence. */
export function asksAnswer({ phase }: Match): boolean {
  return phase === undefined;
}

/** Is the status among those named? A match that names none takes every one. */
export function statusMatches({ status: wanted }: Match, status: number): boolean {
  return (
    wanted === undefined || wanted.some((one) => one === status || one === `${Math.floor(status / 100)}xx`)
  );
}

/** `{"present": true}` or `{"present": false}`: a question for presence instead of a value. */
export function asksPresence(wanted: Json): boolean | undefined {
  if (wanted === null || typeof wanted !== "object" || Array.isArray(wanted)) return undefined;
  const [[name, value] = [], ...more] = Object.entries(wanted);
  return name === "present" && typeof value === "boolean" && more.length === 0 ? value : undefined;
}
