import { createHash } from "node:crypto";
import type { AccessToken } from "./access-token.ts";

interface Kept {
  readonly token: AccessToken;
  /** Of the keys that it was verified with. */
  readonly generation: number;
}

const KEPT_MAX = 10_000;

/** Tokens that were found good, under the digest of their text. Checking a signature costs more than the rest of a call. */
export interface VerifiedTokens {
  /** Only while the same keys still stand. */
  find(text: string, generation: number | undefined): AccessToken | undefined;
  keep(text: string, generation: number | undefined, token: AccessToken): void;
}

export function verifiedTokens(keptMax = KEPT_MAX): VerifiedTokens {
  const kept = new Map<string, Kept>();
  return {
    find: (text, generation) => {
      const name = digestOf(text);
      const found = kept.get(name);
      if (found === undefined) return undefined;
      if (found.generation === generation) return found.token;
      kept.delete(name);
      return undefined;
    },
    keep: (text, generation, token) => {
      if (generation === undefined) return;
      // A map gives its keys in the order in which they came: the first is the oldest.
      const [oldest] = kept.keys();
      if (kept.size >= keptMax && oldest !== undefined) kept.delete(oldest);
      kept.set(digestOf(text), { token, generation });
    },
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
