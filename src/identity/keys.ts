import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from "node:crypto";
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "../core/json.ts";

/** The public half of an Ed25519 key, as a JWK Set lists it (RFC 8037). */
interface PublicKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly alg: "EdDSA";
  readonly use: "sig";
}

export interface PublicKeys {
  readonly keys: readonly PublicKey[];
}

/** An Ed25519 key pair with its name. The private half is a handle: it prints as nothing. */
export interface SigningKey {
  /** RFC 7638: the same key has the same name wherever it is read. */
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: PublicKey;
}

/**
 * The key pair kept in `<folder>/<name>.jwk.json`, made there when there is none. Two processes that begin at once end with one key.
 * Refuses a file that others may read: what they could copy names nobody any more.
 */
export function loadOrCreateKey(folder: string, name: string): SigningKey {
  const path = join(folder, `${name}.jwk.json`);
  return load(path) ?? create(folder, path);
}

function load(path: string): SigningKey | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  // Windows has no such bits; there the folder's own rights decide.
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0)
    throw new Error(
      `${path} holds a private key and others may read it: chmod 600 it, or remove it to have a new one made`,
    );
  return keyOf(readPrivate(text, path));
}

function readPrivate(text: string, path: string): KeyObject {
  try {
    const key = createPrivateKey({ key: JSON.parse(text), format: "jwk" });
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // What the parser would say could quote the key itself.
  }
  throw new Error(`${path} holds no Ed25519 private key in JWK form: remove it to have a new one made`);
}

function create(folder: string, path: string): SigningKey {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync("ed25519");
  const fresh = `${path}.${randomUUID()}`;
  writeFileSync(fresh, `${JSON.stringify(privateKey.export({ format: "jwk" }))}\n`, {
    mode: 0o600,
    flag: "wx",
  });
  // The mode at creation is narrowed by the umask only; this says it whatever the umask.
  chmodSync(fresh, 0o600);
  try {
    // A link fails when the name is taken: whoever was first has made the one key.
    linkSync(fresh, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return load(path) ?? keyOf(privateKey);
}

/** A key pair from its private half. */
export function keyOf(privateKey: KeyObject): SigningKey {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (x === undefined) throw new Error("an Ed25519 key has a public half");
  const keyId = thumbprint(x);
  return {
    keyId,
    privateKey,
    publicKey: { kty: "OKP", crv: "Ed25519", x, kid: keyId, alg: "EdDSA", use: "sig" },
  };
}

function thumbprint(x: string): string {
  // RFC 7638 3.2 and RFC 8037 2: the required members, in this order, without spaces.
  return createHash("sha256")
    .update(canonicalJson({ crv: "Ed25519", kty: "OKP", x }))
    .digest("base64url");
}
