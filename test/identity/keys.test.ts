import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { calculateJwkThumbprint } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { loadOrCreateKey } from "../../src/identity/keys.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "writ-keys-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("a key is made once, in a file for its owner alone, and is the same key ever after", async () => {
  const home = join(folder(), "deeper");

  const first = loadOrCreateKey(home, "tokens");
  const again = loadOrCreateKey(home, "tokens");
  const other = loadOrCreateKey(home, "receipts");

  expect(statSync(join(home, "tokens.jwk.json")).mode & 0o777).toBe(0o600);
  expect(again.publicKey).toEqual(first.publicKey);
  expect(other.keyId).not.toBe(first.keyId);
  expect(first.keyId).toBe(await calculateJwkThumbprint(first.publicKey));
  expect(readdirSync(home).sort()).toEqual(["receipts.jwk.json", "tokens.jwk.json"]);
});

test("a key prints as nothing", () => {
  const home = folder();
  const key = loadOrCreateKey(home, "tokens");
  const { d } = JSON.parse(readFileSync(join(home, "tokens.jwk.json"), "utf8")) as { d: string };

  expect(inspect(key, { depth: 9 })).not.toContain(d);
  expect(JSON.stringify(key)).not.toContain(d);
});

test("a file that others may read, or that holds no key, is refused without saying what is in it", () => {
  const home = folder();
  loadOrCreateKey(home, "tokens");
  chmodSync(join(home, "tokens.jwk.json"), 0o644);
  writeFileSync(join(home, "odd.jwk.json"), '{"kty":"OKP","crv":"X25519","x":"secret"}', { mode: 0o600 });

  expect(() => loadOrCreateKey(home, "tokens")).toThrow(/others may read it: chmod 600/);
  expect(() => loadOrCreateKey(home, "odd")).toThrow(/holds no Ed25519 private key/);
  expect(() => loadOrCreateKey(home, "odd")).not.toThrow(/secret/);
});
