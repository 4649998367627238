import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

/**
 * A place in the ledger's order of changes as one tenant may see it. The numbers themselves count what happens in all tenants, so they
 * leave only as one enciphered block: equal for the same place, telling nothing else, and made up by nobody.
 */
export interface Positions {
  write(seq: number): string;
  /** Undefined for what this tenant was never given. */
  read(text: string): number | undefined;
}

const BLOCK = /^[A-Za-z0-9_-]{22}$/;

export function positions(tenantKey: Uint8Array): Positions {
  const key = createHmac("sha256", tenantKey).update("writ.position.v1").digest();
  // One block of 16 bytes, 8 of them zero: as a permutation under a key it needs no mode and no nonce.
  const cipher = (bytes: Buffer) =>
    createCipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(bytes);
  const decipher = (bytes: Buffer) =>
    createDecipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(bytes);
  return {
    write: (seq) => {
      const block = Buffer.alloc(16);
      block.writeBigUInt64BE(BigInt(seq));
      return cipher(block).toString("base64url");
    },
    read: (text) => {
      if (!BLOCK.test(text)) return undefined;
      const block = decipher(Buffer.from(text, "base64url"));
      const seq = Number(block.readBigUInt64BE());
      return block.readBigUInt64BE(8) === 0n && Number.isSafeInteger(seq) ? seq : undefined;
    },
  };
}
