import { createHash, generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { createVerifier, httpbis } from "http-message-signatures";
import { expect, test } from "vitest";
import { httpConnector, settingsDigestValue } from "../../src/connectors/http.ts";
import { errandOf, living, preset } from "./errand.ts";
import { connectorTo, shop } from "./rig.ts";

const KEY = preset("http/idempotency-key", living("5s"));
interface Pem {
  readonly privateKey: string;
  readonly publicKey: string;
}

function pem({ privateKey, publicKey }: KeyPairKeyObjectResult): Pem {
  return {
    privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    publicKey: String(publicKey.export({ type: "spki", format: "pem" })),
  };
}

test.each([
  ["ed25519", () => pem(generateKeyPairSync("ed25519"))],
  ["ecdsa-p256-sha256", () => pem(generateKeyPairSync("ec", { namedCurve: "P-256" }))],
] as const)(
  "a request signed with %s is verified as it arrived; any change is noticed",
  async (alg, generate) => {
    const { privateKey, publicKey } = generate();
    const provider = await shop({ key: { retentionMs: null, after: "executes" } });

    const learned = await connectorTo(provider.url, { sign: { keyId: "writ-1", privateKey } }).perform(
      errandOf(KEY),
    );

    const [arrived] = provider.requests();
    const seen = {
      method: arrived?.method ?? "",
      url: provider.url + (arrived?.path ?? ""),
      headers: { ...arrived?.headers },
    };
    const holds = (message: typeof seen) =>
      httpbis.verifyMessage(
        {
          keyLookup: async ({ keyid }) =>
            keyid === "writ-1" ? { id: keyid, algs: [alg], verify: createVerifier(publicKey, alg) } : null,
          requiredParams: ["created", "keyid", "alg"],
          requiredFields: ["@method", "@target-uri", "content-type", "content-digest"],
        },
        message,
      );
    expect(learned.kind).toBe("confirmed");
    expect(seen.headers["content-digest"]).toBe(
      `sha-256=:${createHash("sha256")
        .update(arrived?.body ?? "")
        .digest("base64")}:`,
    );
    expect(await holds(seen)).toBe(true);
    expect(await holds({ ...seen, url: `${seen.url}?x=1` })).toBe(false);
    expect(await holds({ ...seen, headers: { ...seen.headers, "content-digest": "sha-256=:AAAA:" } })).toBe(
      false,
    );
  },
);

test("another key is another caller, a broken one is refused, and neither is shown", () => {
  const pinned = (privateKey: string) =>
    settingsDigestValue({ base: "https://shop.example", sign: { keyId: "writ-1", privateKey } });
  const [one, other] = [pem(generateKeyPairSync("ed25519")), pem(generateKeyPairSync("ed25519"))];

  expect(pinned(one.privateKey)).not.toEqual(pinned(other.privateKey));
  expect(JSON.stringify(pinned(one.privateKey))).not.toContain(one.privateKey.split("\n")[1]);
  expect(() =>
    httpConnector({ base: "https://shop.example", sign: { keyId: "k", privateKey: "hunter2" } }),
  ).toThrow('the provider\'s "sign": the key is not a private key in PEM form');
  const rsa = pem(generateKeyPairSync("rsa", { modulusLength: 2048 }));
  expect(() => pinned(rsa.privateKey)).toThrow("neither Ed25519 nor ECDSA on P-256");
});

test("a contract cannot write what the signature covers or says", async () => {
  const { privateKey } = pem(generateKeyPairSync("ed25519"));
  const provider = await shop();
  const request = {
    method: "POST",
    url: "{{base}}/orders",
    headers: { "Idempotency-Key": "{{op.key}}", Signature: "{{args.item}}" },
    body: "{{args}}",
  };
  const contract = preset("http/idempotency-key", { ...living("5s"), request });

  const learned = await connectorTo(provider.url, { sign: { keyId: "k", privateKey } }).perform(
    errandOf(contract),
  );

  expect(learned).toMatchObject({ kind: "refused", detail: expect.stringContaining("both write signature") });
  expect(provider.requests()).toEqual([]);
});
