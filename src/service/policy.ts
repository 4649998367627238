import { policyDiff, type RuleChange } from "../core/policy-diff.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { requireUnrevoked } from "./backing.ts";
import { requireRole } from "./inspect.ts";
import { digestOfVersion, type Policies, type PolicyText, type PolicyVersion } from "./policy-port.ts";
import type { Ports } from "./ports.ts";

/** All that managing policy asks for. */
export type PolicyPorts = Pick<Ports, "policies" | "authority" | "ledger">;

/** What stands, and every activation that led there, newest first. */
export interface Standing {
  /** "" where no policy stands: everything is denied. */
  readonly version: string;
  readonly policy: PolicyText;
  readonly activations: readonly PolicyVersion[];
}

const ACTIVATIONS_MAX = 100;

export async function standingPolicy(ports: PolicyPorts, session: Session): Promise<Standing> {
  requireRole(session, "policy-admin", "operator", "auditor");
  const { store } = policiesOf(ports);
  const { policyVersion } = await ports.authority.refresh(session.tenantId);
  return {
    version: policyVersion,
    policy: await standingText(ports, session, policyVersion),
    activations: await store.activations(session.tenantId, ACTIVATIONS_MAX),
  };
}

/** A policy that is kept and does not stand, with what it would change. */
export interface Candidate {
  readonly digest: string;
  /** The version that it was compared with. */
  readonly standing: string;
  readonly changes: readonly RuleChange[];
}

/** Checks a policy, keeps it by content, and says what it would change. Throws `invalid` with every mistake; then nothing is kept. */
export async function keepPolicy(
  ports: PolicyPorts,
  session: Session,
  policy: PolicyText,
): Promise<Candidate> {
  await requireAdministrator(ports, session);
  const { store, bench } = policiesOf(ports);
  const candidate = await comparePolicy(ports, session, policy);
  const mistakes = bench.check(policy);
  if (mistakes.length > 0) throw new Problem("invalid", mistakes.join("\n"), { at: "/files" });
  await store.keep(session.tenantId, candidate.digest, policy, session.principalId);
  return candidate;
}

/** What a policy would change, whether or not it is kept; empty changes where it says what stands. */
export async function comparePolicy(
  ports: PolicyPorts,
  session: Pick<Session, "tenantId">,
  policy: PolicyText,
): Promise<Candidate> {
  const { bench } = policiesOf(ports);
  const { policyVersion: standing } = await ports.authority.refresh(session.tenantId);
  const before = bench.rules(await standingText(ports, session, standing));
  return { digest: bench.digest(policy), standing, changes: policyDiff(before, bench.rules(policy)) };
}

export interface ActivationOrder {
  readonly digest: string;
  /** The version that the change was looked at against. */
  readonly expects: string;
  readonly reason: string;
}

/**
 * From the answer on, no claim is made that was decided under the policy before. Going back is the same with older text, under a new
 * number. There is no way to have no policy, and no way to switch it off.
 */
export async function activatePolicy(
  ports: PolicyPorts,
  session: Session,
  { digest, expects, reason }: ActivationOrder,
): Promise<PolicyVersion> {
  await requireAdministrator(ports, session);
  const { store, bench } = policiesOf(ports);
  const { tenantId, principalId: actor } = session;
  const policy = await keptPolicy(ports, session, digest);
  const [mistake] = bench.check(policy);
  if (mistake !== undefined) throw new Problem("invalid", `it does not fit what is offered now: ${mistake}`);
  const answer = await store.activate(tenantId, { digest, expects, actor, reason });
  await ports.authority.refresh(tenantId);
  switch (answer.kind) {
    case "activated":
      return answer.version;
    case "unknown_policy":
      throw unknownPolicy();
    case "moved":
      throw new Problem("policy_moved", `the policy that stands is ${answer.standing || "none"} by now`, {
        at: "/expects",
        next: "Look at what this would change now, and activate it against that.",
      });
  }
}

/** Also what is not kept is answered as what belongs to somebody else. */
export async function keptPolicy(
  ports: Pick<Ports, "policies">,
  session: Session,
  digest: string,
): Promise<PolicyText> {
  const { store, bench } = policiesOf(ports);
  const policy = await store.read(session.tenantId, digest);
  if (policy === undefined || bench.digest(policy) !== digest) throw unknownPolicy();
  return policy;
}

function unknownPolicy(): Problem {
  return new Problem("not_found", "no such policy is kept");
}

async function standingText(
  ports: PolicyPorts,
  { tenantId }: Pick<Session, "tenantId">,
  version: string,
): Promise<PolicyText> {
  if (version === "") return { files: [] };
  return (await policiesOf(ports).store.read(tenantId, digestOfVersion(version))) ?? { files: [] };
}

/** A person with the role, not a service, and nobody who was revoked meanwhile. */
async function requireAdministrator(ports: PolicyPorts, session: Session): Promise<void> {
  requireRole(session, "policy-admin");
  if (session.itself === true) throw new Problem("forbidden", "a policy is a person's to change");
  await requireUnrevoked(ports, session);
}

export function policiesOf({ policies }: Pick<Ports, "policies">): Policies {
  if (policies === undefined) throw new Problem("not_ready", "policy has no versions here");
  return policies;
}
