import type { JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import type { Passkey, Passkeys } from "./approval-port.ts";
import { requireUnrevoked } from "./backing.ts";
import type { Ports } from "./ports.ts";

type Asking = Pick<Ports, "approvals" | "authority" | "ledger">;

/** What a browser needs to enrol a passkey of this person. Nothing is stored yet. */
export async function beginEnrolment(
  ports: Asking,
  session: Session,
): Promise<{ readonly options: JsonObject; readonly ticket: string }> {
  return (await own(ports, session)).enrolment(holderOf(session));
}

/** Keeps what the authenticator answered. Who approves with it later is this person. */
export async function enrolPasskey(
  ports: Asking,
  session: Session,
  answer: { readonly ticket: string; readonly response: JsonObject; readonly name: string },
): Promise<Passkey> {
  const passkey = await (await own(ports, session)).enrol(holderOf(session), answer);
  await ports.ledger.raiseEpoch(session.tenantId, `passkey ${passkey.id} enrolled`, session.principalId);
  return passkey;
}

export async function listPasskeys(ports: Asking, session: Session): Promise<readonly Passkey[]> {
  return (await own(ports, session)).store.list(session.tenantId, session.principalId);
}

/** From now on it signs nothing here; what it signed stays signed. */
export async function removePasskey(ports: Asking, session: Session, id: string): Promise<void> {
  const passkeys = await own(ports, session);
  if (!(await passkeys.store.remove(session.tenantId, session.principalId, id)))
    throw new Problem("not_found", "you have no such passkey");
  await ports.ledger.raiseEpoch(session.tenantId, `passkey ${id} removed`, session.principalId);
}

/** Only the person, at a browser of their own: an agent that holds a person's token must not enrol a key in their name. */
async function own(ports: Asking, session: Session): Promise<Passkeys> {
  await requireUnrevoked(ports, session);
  const { passkeys } = ports.approvals;
  if (passkeys === undefined)
    throw new Problem("not_found", "this installation knows no passkeys", {
      next: "Say under `approvals.passkeys` in the configuration for which site they are.",
    });
  if (session.itself === true || session.authentication?.via !== "console")
    throw new Problem("forbidden", "passkeys are managed by their owner, in a console session");
  return passkeys;
}

function holderOf(session: Session): Parameters<Passkeys["enrolment"]>[0] {
  return { tenantId: session.tenantId, person: session.principalId };
}
