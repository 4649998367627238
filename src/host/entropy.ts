import { randomBytes, randomUUID } from "node:crypto";
import type { Entropy } from "../service/ports.ts";

export const processEntropy: Entropy = {
  uuid7: () => uuid7(Date.now(), randomBytes(10)),
  uuid4: () => randomUUID(),
  salt: () => randomBytes(16).toString("base64url"),
  fraction: () => Math.random(),
};

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
