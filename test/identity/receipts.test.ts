import { generateKeyPairSync, sign } from "node:crypto";
import { compactVerify, importJWK } from "jose";
import { expect, test } from "vitest";
import { keyOf } from "../../src/identity/keys.ts";
import { receiptSigner, verifyReceipt } from "../../src/identity/receipts.ts";

const KEY = keyOf(generateKeyPairSync("ed25519").privateKey);
const OTHER = keyOf(generateKeyPairSync("ed25519").privateKey);
const KEYS = { keys: [OTHER.publicKey, KEY.publicKey] };
const CLAIMS = { state: "succeeded", operationId: "op_1", note: "über €" };
const RECEIPT = receiptSigner(KEY).sign(CLAIMS);
const [HEADER = "", PAYLOAD = "", SIGNATURE = ""] = RECEIPT.split(".");

function resigned(header: object, payload = PAYLOAD): string {
  const input = `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}`;
  return `${input}.${sign(null, Buffer.from(input), KEY.privateKey).toString("base64url")}`;
}

test("a receipt is a JWS that anybody's library verifies", async () => {
  const { payload, protectedHeader } = await compactVerify(
    RECEIPT,
    await importJWK({ ...KEY.publicKey }, "EdDSA"),
  );

  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(CLAIMS);
  expect(protectedHeader).toEqual({ alg: "EdDSA", kid: KEY.keyId, typ: "writ-receipt+json" });
});

test("the same claims are the same receipt, in whatever order they were written", () => {
  expect(receiptSigner(KEY).sign({ note: "über €", operationId: "op_1", state: "succeeded" })).toBe(RECEIPT);
});

test("a true receipt is told from everything else", () => {
  const typed = { alg: "EdDSA", kid: KEY.keyId, typ: "writ-receipt+json" };
  const altered = Buffer.from(JSON.stringify({ ...CLAIMS, state: "rejected" })).toString("base64url");
  const lies = [
    `${HEADER}.${altered}.${SIGNATURE}`,
    `${HEADER}.${PAYLOAD}.${SIGNATURE.replace(/^./, (letter) => (letter === "A" ? "B" : "A"))}`,
    `${HEADER}.${PAYLOAD}.`,
    `${HEADER}.${PAYLOAD}`,
    `${RECEIPT}.${SIGNATURE}`,
    resigned({ ...typed, kid: "nobody" }),
    resigned({ ...typed, alg: "none" }),
    resigned({ ...typed, typ: "at+jwt" }),
    resigned({ ...typed, crit: ["b64"], b64: false }),
    resigned(typed, Buffer.from("[1]").toString("base64url")),
    resigned(typed, Buffer.from('{"a":1,"a":2}').toString("base64url")),
    "",
    "a.b.c",
  ];

  expect(verifyReceipt(RECEIPT, KEYS)).toEqual({ ok: true, claims: CLAIMS, keyId: KEY.keyId });
  expect(verifyReceipt(RECEIPT, { keys: [OTHER.publicKey] }).ok).toBe(false);
  expect(lies.map((lie) => verifyReceipt(lie, KEYS).ok)).toEqual(lies.map(() => false));
});
