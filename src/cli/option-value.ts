import { InvalidArgumentError } from "commander";

export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function whole(text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max)
    throw new InvalidArgumentError(`It is a whole number up to ${max}.`);
  return value;
}

export function seconds(max: number): (text: string) => number {
  return (text) => whole(text, max);
}

export function count(text: string): number {
  return whole(text, 10_000);
}

export function port(text: string): number {
  return whole(text, 65_535);
}

export function scenes(text: string, before: readonly number[] = []): readonly number[] {
  return [...before, whole(text, 99)];
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Whole seconds, from a text such as 90s, 30m, 8h or 7d. */
export function duration(text: string): number {
  const [, value = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(value) * (UNITS[unit] ?? Number.NaN);
  if (!(seconds > 0 && seconds <= 366 * 86_400))
    throw new InvalidArgumentError("It is a time such as 90s, 30m, 8h or 7d, at most 366d.");
  return seconds;
}
