import { randomBytes, randomUUID } from "node:crypto";
import type { Entropy } from "../service/ports.ts";

export const processEntropy: Entropy = {
  uuid7: () => uuid7(Date.now(), random(10)),
  uuid4: () => randomUUID(),
  salt: () => random(16).toString("base64url"),
  fraction: () => Math.random(),
};

// The system is asked for many bytes at a time; each is given out once.
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let given = 0;

function random(bytes: number): Buffer {
  if (given + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    given = 0;
  }
  given += bytes;
  return pool.subarray(given - bytes, given);
}

/** RFC 9562 5.7: 48 bits of milliseconds, then the version, the variant and 74 random bits. */
export function uuid7(ms: number, random: Uint8Array): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.set(random, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
