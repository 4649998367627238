import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { refuse, textOf, type Written } from "../core/written.ts";

/** Where references lead. */
export interface Surroundings {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const SECRET_MAX_BYTES = 65_536;

/** A secret by its reference, read now: one that cannot be read is a mistake of the configuration. */
export function secretOf(written: Written, around: Surroundings): string {
  const ref = textOf(written);
  const text = /^env:/.test(ref)
    ? fromEnvironment(written, ref.slice(4), around)
    : /^file:/.test(ref)
      ? fileOf(written, around)
      : undefined;
  if (text === undefined)
    refuse(written, "a secret is never written here; write env:NAME or file:/path, and keep it there");
  const value = text.replace(/\r?\n$/, "");
  if (value === "") refuse(written, `${ref} holds nothing`);
  return value;
}

function fromEnvironment(written: Written, name: string, { environment }: Surroundings): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) refuse(written, "write env: and the name of a variable");
  return environment[name] ?? refuse(written, `the variable ${name} is not set`);
}

/** The text of `file:PATH`; a relative path starts at the folder. */
export function fileOf(written: Written, { folder }: Surroundings): string {
  const ref = textOf(written);
  if (!ref.startsWith("file:") || ref.length === 5) refuse(written, "write file: and a path");
  const path = isAbsolute(ref.slice(5)) ? ref.slice(5) : join(folder, ref.slice(5));
  try {
    if (statSync(path).size > SECRET_MAX_BYTES)
      refuse(written, `${path} is larger than ${SECRET_MAX_BYTES} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string")
      return refuse(written, `${path} cannot be read (${error.code})`);
    throw error;
  }
}
