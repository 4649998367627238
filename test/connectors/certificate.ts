import { createSign, generateKeyPairSync } from "node:crypto";

/** A self-signed certificate for one host, made for one test: no key lies in the repository. RFC 5280, written by hand in DER. */
export function selfSigned(host: string): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // ecdsa-with-SHA256
  const commonName = sequence(objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from(host)));
  const name = sequence(der(0x31, commonName));
  const day = 86_400_000;
  const validity = sequence(utcTime(Date.now() - day), utcTime(Date.now() + day));
  const altName = sequence(objectId(0x55, 0x1d, 0x11), der(0x04, sequence(der(0x82, Buffer.from(host)))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // Version 3, which has extensions.
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(altName)),
  );
  const signature = createSign("sha256").update(body).sign(privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert: pem(certificate) };
}

function der(tag: number, content: Buffer): Buffer {
  const length = content.byteLength;
  const head =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function objectId(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function utcTime(ms: number): Buffer {
  return der(0x17, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
