import { digestText } from "../core/digest.ts";

/** Names a credential without showing it: what an action pins of the one that its requests carry. */
export function fingerprint(secret: string): string {
  return digestText("writ.credential.v1", secret);
}
