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
