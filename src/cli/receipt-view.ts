import type { ReceiptAnswer } from "../wire/record.ts";
import { facts, indented } from "./print.ts";
import { plain, type Screen } from "./screen.ts";

/** What a receipt states, and the signed text itself. Nothing is verified here: `claims` is what the signature covers. */
export function decodeReceipt(screen: Screen, { jws, claims }: ReceiptAnswer): string {
  const entries = Object.entries(claims).map(([name, value]): [string, string] => [
    name,
    plain(name.endsWith("At") && typeof value === "number" ? new Date(value).toISOString() : textOf(value)),
  ]);
  return [
    facts(screen, entries),
    "",
    screen.paint.dim("signed (JWS, Ed25519; the keys are at /.well-known/jwks.json)"),
    indented(jws, 2),
  ].join("\n");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
