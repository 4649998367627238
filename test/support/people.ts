import type { Operation } from "../../src/core/operation.ts";
import type { Opinion, Requirement } from "../../src/core/policy.ts";
import type { Session } from "../../src/core/session.ts";
import { answer, type DecisionGiven } from "../../src/service/approve.ts";
import type { PolicyEngine, Ports } from "../../src/service/ports.ts";
import { look } from "../../src/service/waiting.ts";
import type { Rig } from "./rig.ts";

/** A requirement for one approver within a minute; what a test does not care about is filled in. */
export const asks = (changes: Partial<Requirement> = {}): Requirement => ({
  policy: "review.risk",
  role: "approver",
  quorum: 1,
  withinMs: 60_000,
  by: "second_person",
  reason: "risk",
  ...changes,
});

/** A person in a session of their own, through a client that proposes nothing. */
export const person = (here: Pick<Rig, "as">, name: string, changes: Partial<Session> = {}): Session =>
  here.as({ principalId: `test#${name}`, clientId: "console", roles: ["approver"], ...changes });

/** Looks and says it, as a person at a screen would. Gives the operation when what that began has ended. */
export async function says(
  ports: Ports,
  session: Session,
  operation: Pick<Operation, "id">,
  decision: DecisionGiven["decision"] = "approve",
  changes: Partial<DecisionGiven> = {},
): Promise<Operation> {
  const { view, operation: shown } = await look(ports, session, operation.id);
  const given = { decision, digest: shown.digest, nonce: view?.nonce ?? "", ...changes };
  const executed = await answer(ports, session, operation.id, given);
  return (await executed.done) ?? executed.operation;
}

type Voice = Pick<Opinion, "effect"> & Partial<Opinion>;

/** A policy that says what it is told to, from one moment to the next. Who may answer is whoever holds the role, until told otherwise. */
export function changingPolicy(voice: Voice): PolicyEngine & {
  voice: Voice;
  approves: PolicyEngine["approves"];
} {
  return {
    voice,
    version: () => "v",
    async opinions() {
      return [{ of: "test", policies: ["p"], requirements: [], obligations: [], ...this.voice }];
    },
    approves: async ({ session, requirement }) =>
      requirement.by === "principal" || session.roles.includes(requirement.role),
  };
}
