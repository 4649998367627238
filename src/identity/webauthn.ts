import { createHash } from "node:crypto";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { challengeOf } from "../core/approval.ts";
import { keyedDigest } from "../core/digest.ts";
import type { TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import type { ApprovalStatement, SignedApproval } from "../core/review.ts";
import type { Holder, Passkey, PasskeyStore, Passkeys } from "../service/approval-port.ts";
import { assertionFault } from "./assertion.ts";

export interface WebauthnSettings {
  /** The relying party: the host, or a domain above it. */
  readonly rpId: string;
  /** Where its pages live. */
  readonly origins: readonly string[];
  readonly store: PasskeyStore;
  /** Keys the challenges of enrolments, so that every process knows them. */
  readonly tenantKey: (tenantId: TenantId) => Uint8Array;
  readonly clock: () => number;
  readonly salt: () => string;
}

const ENROL_FOR_MS = 5 * 60_000;
// COSE: Ed25519, ECDSA on P-256 with SHA-256, RSASSA-PKCS1-v1_5 with SHA-256.
const ALGORITHMS = [-8, -7, -257];
const TICKET = /^\d{1,15}\.[A-Za-z0-9_-]{22}$/;

/** Passkeys by WebAuthn (Level 3). The user is always verified, and nothing of an enrolment is stored before it is complete. */
export function webauthn(settings: WebauthnSettings): Passkeys {
  return {
    store: settings.store,
    rpId: settings.rpId,
    enrolment: (holder) => enrolment(settings, holder),
    enrol: (holder, answer) => enrol(settings, holder, answer),
    verify: (holder, statement, assertion) => verified(settings, holder, statement, assertion),
  };
}

async function enrolment(
  settings: WebauthnSettings,
  holder: Holder,
): Promise<{ readonly options: JsonObject; readonly ticket: string }> {
  const { generateRegistrationOptions } = await import("@simplewebauthn/server");
  const ticket = `${settings.clock() + ENROL_FOR_MS}.${settings.salt()}`;
  const known = await settings.store.list(holder.tenantId, holder.person);
  const options = await generateRegistrationOptions({
    rpName: "Writ",
    rpID: settings.rpId,
    userName: holder.person,
    // WebAuthn 5.4.3: a handle that says nothing about the person.
    userID: new Uint8Array(createHash("sha256").update(`${holder.tenantId}\0${holder.person}`).digest()),
    challenge: new Uint8Array(Buffer.from(enrolChallenge(settings, holder, ticket), "base64url")),
    attestationType: "none",
    authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map(({ id }) => ({ id })),
  });
  return { options: options as unknown as JsonObject, ticket }; // Made to be sent as JSON.
}

function enrolChallenge(
  { tenantKey }: WebauthnSettings,
  { tenantId, person }: Holder,
  ticket: string,
): string {
  const mac = keyedDigest(tenantKey(tenantId), "writ.enrol.v1", { tenantId, person, ticket });
  return mac.slice("hmac-256:".length);
}

async function enrol(
  settings: WebauthnSettings,
  holder: Holder,
  answer: { readonly ticket: string; readonly response: JsonObject; readonly name: string },
): Promise<Passkey> {
  const { ticket, response, name } = answer;
  const over = !TICKET.test(ticket) || settings.clock() >= Number(ticket.split(".")[0]);
  if (over) throw new Problem("invalid", "this enrolment is over; begin it again", { at: "/ticket" });
  const credential = await registered(settings, holder, ticket, response);
  const passkey = { ...credential, person: holder.person, name };
  if (!(await settings.store.add(holder.tenantId, passkey)))
    throw new Problem("invalid", "this passkey is enrolled already, or you have as many as one may have", {
      at: "/response",
    });
  const found = await settings.store.list(holder.tenantId, holder.person);
  const made = found.find(({ id }) => id === passkey.id);
  if (made === undefined)
    throw new Problem("invalid", "the passkey was removed meanwhile", { at: "/response" });
  return made;
}

async function registered(
  settings: WebauthnSettings,
  holder: Holder,
  ticket: string,
  response: JsonObject,
): Promise<Pick<Passkey, "id" | "publicKey" | "counter" | "transports">> {
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: response as unknown as RegistrationResponseJSON, // The library reads it as what it is: untrusted.
      expectedChallenge: enrolChallenge(settings, holder, ticket),
      expectedOrigin: [...settings.origins],
      expectedRPID: settings.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (registrationInfo !== undefined) {
      const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
      return { id, publicKey: Buffer.from(publicKey).toString("base64url"), counter, transports };
    }
  } catch {
    // Told below: what the library says is for whoever attacks it.
  }
  throw new Problem("invalid", "this is no answer of an authenticator to this enrolment", {
    at: "/response",
  });
}

async function verified(
  settings: WebauthnSettings,
  { tenantId, person }: Holder,
  statement: ApprovalStatement,
  assertion: JsonObject,
): Promise<SignedApproval> {
  const known = await settings.store.list(tenantId, person);
  const passkey = known.find(({ id, suspectAt }) => id === assertion.id && suspectAt === undefined);
  if (passkey === undefined) throw refused("it is not one of your passkeys");
  const { response, counter } = await authenticated(settings, passkey, statement, assertion);
  const signed = {
    statement,
    credentialId: passkey.id,
    publicKey: await jwkOf(passkey),
    rpId: settings.rpId,
    origin: originOf(response.clientDataJSON),
    authenticatorData: response.authenticatorData,
    clientDataJSON: response.clientDataJSON,
    signature: response.signature,
  };
  // What is kept must be provable by what it says alone, as whoever verifies it later will.
  const fault = assertionFault(signed, settings);
  if (fault !== undefined) throw refused(fault);
  if (!(await settings.store.count(tenantId, passkey.id, counter)))
    throw refused("its counter went backwards: somebody may have copied it, and it is not trusted any more");
  return signed;
}

async function authenticated(
  settings: WebauthnSettings,
  passkey: Passkey,
  statement: ApprovalStatement,
  assertion: JsonObject,
): Promise<{ readonly response: AuthenticationResponseJSON["response"]; readonly counter: number }> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const given = assertion as unknown as AuthenticationResponseJSON; // The library reads it as what it is: untrusted.
  try {
    const { verified: holds, authenticationInfo } = await verifyAuthenticationResponse({
      response: given,
      expectedChallenge: challengeOf(statement),
      expectedOrigin: [...settings.origins],
      expectedRPID: settings.rpId,
      requireUserVerification: true,
      // The ledger compares the counter, in the statement that moves it.
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
        counter: 0,
      },
    });
    if (holds) return { response: given.response, counter: authenticationInfo.newCounter };
  } catch {
    // Told below: what the library says is for whoever attacks it.
  }
  throw refused("the passkey did not sign exactly what was shown, here, by its verified user");
}

function refused(why: string): Problem {
  return new Problem("decision_refused", why, {
    at: "/assertion",
    next: "Look at it again, and sign what you see then.",
  });
}

function originOf(clientDataJSON: string): string {
  const told = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString("utf8")) as { origin: string }; // Verified above.
  return told.origin;
}

const CURVES: Readonly<Record<number, string>> = { 1: "P-256", 2: "P-384", 3: "P-521", 6: "Ed25519" };

/** RFC 9053 key parameters as a JSON Web Key, which needs no CBOR to be read. */
async function jwkOf(passkey: Passkey): Promise<JsonObject> {
  const { decodeCredentialPublicKey } = await import("@simplewebauthn/server/helpers");
  const cose = decodeCredentialPublicKey(new Uint8Array(Buffer.from(passkey.publicKey, "base64url")));
  const get = (label: number): unknown => cose.get(label as never); // Its type knows only the labels of one kind of key.
  const bytes = (label: number): string => Buffer.from(get(label) as Uint8Array).toString("base64url");
  const crv = CURVES[Number(get(-1))] ?? "";
  switch (get(1)) {
    case 1:
      return { kty: "OKP", crv, x: bytes(-2) };
    case 2:
      return { kty: "EC", crv, x: bytes(-2), y: bytes(-3) };
    default:
      return { kty: "RSA", n: bytes(-1), e: bytes(-2) };
  }
}
