/** One thing that was looked at. */
export interface Check {
  readonly verdict: "ok" | "warn" | "fail";
  readonly name: string;
  readonly says: string;
  /** How to mend it, or what follows from it. */
  readonly mend?: string;
}

export function ok(name: string, says: string): Check {
  return { verdict: "ok", name, says };
}

export function warn(name: string, says: string, mend: string): Check {
  return { verdict: "warn", name, says, mend };
}

export function fail(name: string, says: string, mend: string): Check {
  return { verdict: "fail", name, says, mend };
}
