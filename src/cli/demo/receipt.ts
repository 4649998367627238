import { createPublicKey, verify } from "node:crypto";
import type { Beat } from "./scene.ts";
import type { Stage } from "./stage.ts";

/** The receipt, checked with the key that Writ publishes: as anybody can. */
export async function receiptSays(
  { agent, url }: Pick<Stage, "agent" | "url">,
  id: string,
): Promise<Omit<Beat, "at">> {
  const { jws, claims } = await agent.receipt(id);
  const keys = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as {
    readonly keys: readonly {
      readonly kid: string;
      readonly kty: string;
      readonly crv: string;
      readonly x: string;
    }[];
  }; // RFC 7517; Writ's own are Ed25519.
  const [head = "", payload = "", signature = ""] = jws.split(".");
  const { kid } = JSON.parse(Buffer.from(head, "base64url").toString("utf8")) as { readonly kid: string };
  const key = keys.keys.find((each) => each.kid === kid);
  const good =
    key !== undefined &&
    verify(
      null,
      Buffer.from(`${head}.${payload}`),
      createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: "jwk" }),
      Buffer.from(signature, "base64url"),
    );
  if (!good) throw new Error(`the receipt of ${id} is not signed by a key that Writ publishes`);
  return {
    from: "Writ",
    says: `keeps the receipt of ${String(claims.digest).slice(0, 18)}…; its signature holds`,
    mark: "succeeded",
  };
}
