import { createHash } from "node:crypto";

/** On every answer. Nothing here is a page unless it says so, and nobody may frame, sniff or embed it. */
export const SECURITY_HEADERS = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** A page of ours: one style sheet, named by its content; no script, no image, no address elsewhere. */
export function pageHeaders(style: string): Readonly<Record<string, string>> {
  const hash = createHash("sha256").update(style).digest("base64");
  return {
    "content-security-policy": `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
  };
}
