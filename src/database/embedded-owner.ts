import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityOf, UNTOLD } from "./process-identity.ts";

/** Another live process owns the server of this folder. */
export class EmbeddedOwned extends Error {
  override readonly name = "EmbeddedOwned";
  readonly pid: number;

  constructor(home: string, pid: number) {
    super(
      `the PostgreSQL server in ${home} belongs to the running process ${pid}: stop that one first, or set DATABASE_URL`,
    );
    this.pid = pid;
  }
}

export interface Ownership {
  release(): void;
}

/** As the file holds it; a file without a pid says that its owner gave the folder back. */
interface Owner {
  readonly pid?: number;
  readonly identity?: string;
}

/**
 * Makes this process the owner of the folder, or throws EmbeddedOwned. A dead owner is succeeded at once; a pid
 * that another process has now is not believed.
 *
 * The file of the owner has a number, and the highest one rules. A successor creates the next number, which only
 * one can; so two that find the same dead owner do not both succeed it, as they might by replacing one file.
 */
export function own(home: string): Ownership {
  for (;;) {
    const last = numbersIn(home).at(-1) ?? 0;
    const pid = last === 0 ? undefined : livePidOf(read(home, last));
    if (pid !== undefined) throw new EmbeddedOwned(home, pid);
    const number = last + 1;
    if (!create(home, number, { pid: process.pid, identity: identityOf(process.pid) ?? UNTOLD })) continue;
    const numbers = numbersIn(home);
    // We had looked before others came and went.
    const outrun = numbers.some((other) => other > number);
    for (const other of numbers)
      if (outrun ? other === number : other < number) rmSync(file(home, other), { force: true });
    if (!outrun) return { release: () => release(home, number) };
  }
}

function livePidOf({ pid, identity }: Owner): number | undefined {
  if (pid === undefined) return undefined;
  const now = identityOf(pid);
  return now !== undefined && (now === identity || now === UNTOLD || identity === UNTOLD) ? pid : undefined;
}

/** The number stays, or a slow successor of an older owner could take it up a second time. */
function release(home: string, number: number): void {
  if (read(home, number).pid !== process.pid) return;
  const aside = `${file(home, number)}.${process.pid}`;
  writeFileSync(aside, "{}\n");
  renameSync(aside, file(home, number));
}

/** A link is made with its content or not at all. */
function create(home: string, number: number, owner: Owner): boolean {
  const aside = `${file(home, number)}.${process.pid}`;
  writeFileSync(aside, `${JSON.stringify(owner)}\n`);
  try {
    linkSync(aside, file(home, number));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function read(home: string, number: number): Owner {
  try {
    return JSON.parse(readFileSync(file(home, number), "utf8")) as Owner;
  } catch {
    return {};
  }
}

const FILE = /^owner\.(\d+)\.json$/;

function file(home: string, number: number): string {
  return join(home, `owner.${number}.json`);
}

function numbersIn(home: string): readonly number[] {
  const numbers = readdirSync(home).map((name) => Number(FILE.exec(name)?.[1] ?? 0));
  return numbers.filter((number) => number > 0).sort((left, right) => left - right);
}
