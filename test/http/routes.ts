import { AUDITOR, OPERATOR, RESOLVER } from "../support/door.ts";
import type { Call } from "../support/exchange.ts";

export const BODY = {
  tool: "inventory.set_available",
  arguments: { warehouse: "main", item: "widget", available: 18 },
  expectedVersion: 42,
};
export const EVIDENCE = { reference: "ticket 7", note: "looked" };
const SOME = `op_${"a".repeat(32)}`;

/** Who may use each route, and a body that it takes. */
export const ROUTES: Readonly<Record<string, Pick<Call, "as" | "body">>> = {
  "POST /v1/operations": { body: BODY },
  "GET /v1/operations": {},
  "POST /v1/operations/{id}/execute": {},
  "GET /v1/operations/{id}": {},
  "GET /v1/operations/{id}/explanation": {},
  "GET /v1/operations/{id}/receipt": {},
  "GET /v1/operations/{id}/events": {},
  "POST /v1/operations/{id}/cancel": {},
  "POST /v1/operations/{id}/reconcile": {},
  "POST /v1/operations/{id}/findings": {
    as: RESOLVER,
    body: { finding: "absent", digest: "d", evidence: EVIDENCE },
  },
  "GET /v1/approvals": {},
  "GET /v1/approvals/{id}": {},
  "POST /v1/operations/{id}/decisions": { body: { decision: "reject", digest: "d", nonce: "n" } },
  "POST /v1/operations/{id}/decisions/withdraw": {},
  "GET /v1/passkeys": {},
  "POST /v1/passkeys/enrolment": {},
  "POST /v1/passkeys": { body: { ticket: "t", response: {}, name: "n" } },
  "POST /v1/passkeys/remove": { body: { id: "p" } },
  "GET /v1/tools": {},
  "GET /v1/providers": {},
  "GET /v1/contracts": {},
  "POST /v1/halts": { as: OPERATOR, body: { scope: "tenant", reason: "r" } },
  "GET /v1/halts": { as: AUDITOR },
  "POST /v1/halts/{id}/lift": { as: OPERATOR },
  "POST /v1/delegations": {
    body: { holder: "agent-9", rules: [{ tools: ["t.*"], resources: ["Item:*"] }], lastsSeconds: 60 },
  },
  "GET /v1/delegations": {},
  "POST /v1/delegations/{id}/revoke": { body: { reason: "r" } },
  "POST /v1/revocations": { as: OPERATOR, body: { scope: "client", name: "nobody", reason: "r" } },
  "GET /v1/revocations": { as: AUDITOR },
  "POST /v1/revocations/{id}/lift": { as: OPERATOR },
  "GET /v1/events": {},
  "GET /healthz": { as: null },
  "GET /readyz": { as: null },
  "GET /.well-known/jwks.json": { as: null },
  "GET /openapi.json": { as: null },
  "GET /docs": { as: null },
  "GET /": { as: null },
};

/** An example of a path, naming nothing that exists. */
export const of = (path: string): string => path.replace("{id}", path.includes("halts") ? "halt_1" : SOME);

/** Statuses that are not common refusals: each with a test that gives it. */
export const SPECIFIC: readonly string[] = [
  "POST /v1/operations 200",
  "POST /v1/operations 202",
  "POST /v1/operations 404",
  "POST /v1/operations 409",
  "POST /v1/operations 410",
  "POST /v1/operations 412",
  "POST /v1/operations 422",
  "POST /v1/operations/{id}/execute 200",
  "POST /v1/operations/{id}/execute 202",
  "POST /v1/operations/{id}/execute 409",
  "POST /v1/operations/{id}/execute 412",
  "POST /v1/operations/{id}/execute 422",
  "GET /v1/operations/{id} 200",
  "GET /v1/operations/{id} 304",
  "GET /v1/operations/{id}/explanation 200",
  "GET /v1/operations/{id}/receipt 200",
  "GET /v1/operations/{id}/receipt 409",
  "GET /v1/operations/{id}/events 200",
  "POST /v1/operations/{id}/cancel 200",
  "POST /v1/operations/{id}/cancel 409",
  "POST /v1/operations/{id}/reconcile 200",
  "POST /v1/operations/{id}/reconcile 202",
  "POST /v1/operations/{id}/findings 200",
  "POST /v1/operations/{id}/findings 202",
  "POST /v1/operations/{id}/findings 409",
  "POST /v1/halts 201",
  "POST /v1/halts/{id}/lift 200",
  "POST /v1/delegations 201",
  "POST /v1/delegations 422",
  "POST /v1/delegations/{id}/revoke 200",
  "POST /v1/revocations 201",
  "POST /v1/revocations/{id}/lift 200",
];
