import { digestOf } from "./digest.ts";
import type { Instant, TenantId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Requirement } from "./policy.ts";
import type { Approval, ApprovalStatement } from "./review.ts";
import type { Session } from "./session.ts";

/** All that decides whether a yes counts, beside the yes itself. */
export interface Standpoint {
  readonly digest: string;
  readonly principalId: string;
  /** Everybody through whom the operation's authority ran. */
  readonly chain: ReadonlySet<string>;
  readonly clock: Instant;
  /** May this person, as policy says now, give this approval? */
  readonly eligible: (approval: Approval, requirement: Requirement) => boolean;
}

/** One answer that a requirement needs, and whoever gives it. */
export interface Slot {
  readonly requirement: Requirement;
  readonly approval?: Approval;
  /** When that answer stops counting. */
  readonly until?: Instant;
}

export interface Answered {
  /** Every requirement has as many people as it asks for, and nobody stands for two. */
  readonly complete: boolean;
  readonly slots: readonly Slot[];
  /** Of a complete answer: the earliest end of what it rests on, as late as it can be. */
  readonly endsAt?: Instant;
}

/** More people than this are never asked about one operation. */
const SLOTS_MAX = 32;

/** Why this yes does not count for this requirement, in words; undefined when it does. */
export function whyNot(
  approval: Approval,
  requirement: Requirement,
  standpoint: Standpoint,
): string | undefined {
  if (approval.decision !== "approve") return "it is a no";
  if (approval.withdrawnAt !== undefined) return "it was withdrawn";
  if (approval.digest !== standpoint.digest) return "it names another change";
  if (standpoint.clock >= endOf(approval, requirement)) return "its window is over";
  return (
    wrongPerson(approval, requirement, standpoint) ??
    lackingAssurance(approval, requirement) ??
    (standpoint.eligible(approval, requirement) ? undefined : `policy does not let them answer for this`)
  );
}

/** Who may never answer this, whatever policy says. */
export function wrongPerson(
  { person, client, authentication }: Pick<Approval, "person" | "client" | "authentication">,
  { by }: Requirement,
  { principalId, chain }: Pick<Standpoint, "principalId" | "chain">,
): string | undefined {
  // The client that proposed, and those before it, would be answering their own question.
  if (chain.has(client)) return "it came through a client of the chain";
  switch (by) {
    case "second_person":
      return chain.has(person) ? "they are in the chain of its authority" : undefined;
    case "principal":
      if (person !== principalId) return "only the principal can confirm this";
      return authentication?.via === "console"
        ? undefined
        : "the principal confirms in a console session of their own";
  }
}

/** What is missing of the assurance that the requirement asks for. */
export function lackingAssurance(
  approval: Pick<Approval, "at" | "authentication" | "signed">,
  { assurance, policy }: Requirement,
): string | undefined {
  if (assurance === undefined) return undefined;
  const { authentication, signed, at } = approval;
  if (assurance.acr !== undefined && authentication?.acr !== assurance.acr)
    return `it needs a session authenticated with "${assurance.acr}"`;
  if (assurance.maxAgeMs !== undefined) {
    const age = authentication?.at === undefined ? Number.POSITIVE_INFINITY : at - authentication.at;
    if (age > assurance.maxAgeMs)
      return `it needs a person who authenticated at most ${Math.floor(assurance.maxAgeMs / 1000)} s ago`;
  }
  if (assurance.webauthn === true && signed?.statement.requirement.includes(policy) !== true)
    return "it needs the signature of the person's own passkey";
  return undefined;
}

/** A yes counts from its own moment, for as long as the requirement says. */
function endOf(approval: Approval, { withinMs }: Requirement): Instant {
  return approval.at + withinMs;
}

/**
 * Gives people to requirements, one person one slot in total. Exact: who could answer two requirements is not spent on the one that
 * somebody else could answer as well. Of all complete assignments it takes one that lasts longest.
 */
export function assign(
  requirements: readonly Requirement[],
  approvals: readonly Approval[],
  standpoint: Standpoint,
): Answered {
  const wanted = requirements.flatMap((requirement) =>
    Array.from({ length: Math.min(requirement.quorum, SLOTS_MAX + 1) }, () => requirement),
  );
  const people = approvals.slice(-PEOPLE_MAX);
  const ends = wanted.map((requirement) =>
    people.map((approval) =>
      whyNot(approval, requirement, standpoint) === undefined ? endOf(approval, requirement) : undefined,
    ),
  );
  const first = matched(ends, Number.NEGATIVE_INFINITY);
  if (first.size < wanted.length) return { complete: false, slots: slotsOf(wanted, people, first) };
  const latest = [...new Set(ends.flat().flatMap((end) => end ?? []))]
    .sort((a, b) => b - a)
    .find((end) => matched(ends, end).size === wanted.length);
  const best = latest === undefined ? first : matched(ends, latest);
  const slots = slotsOf(wanted, people, best);
  return { complete: true, slots, ...(latest === undefined ? {} : { endsAt: latest }) };
}

const PEOPLE_MAX = 128;

/** Kuhn's augmenting paths: which person stands for each slot, of those who count until `least` or later. */
function matched(
  ends: readonly (readonly (Instant | undefined)[])[],
  least: Instant,
): ReadonlyMap<number, number> {
  const slotOf = new Map<number, number>();
  const place = (slot: number, seen: Set<number>): boolean => {
    for (const [person, end] of (ends[slot] ?? []).entries()) {
      if (end === undefined || end < least || seen.has(person)) continue;
      seen.add(person);
      const held = slotOf.get(person);
      if (held === undefined || place(held, seen)) {
        slotOf.set(person, slot);
        return true;
      }
    }
    return false;
  };
  for (const slot of ends.keys()) place(slot, new Set());
  return new Map([...slotOf].map(([person, slot]) => [slot, person]));
}

function slotsOf(
  wanted: readonly Requirement[],
  people: readonly Approval[],
  personOf: ReadonlyMap<number, number>,
): readonly Slot[] {
  return wanted.map((requirement, slot) => {
    const approval = people[personOf.get(slot) ?? -1];
    if (approval === undefined) return { requirement };
    return { requirement, approval, until: endOf(approval, requirement) };
  });
}

/** What is known of an installation and a proposal before anybody was asked. */
export interface Askable {
  /** A service that acts for itself has no principal who could confirm. */
  readonly itself: boolean;
  readonly passkeys: boolean;
  /** How long before its end a permission must be claimed to be sendable at all. */
  readonly sendMs: number;
}

/** Why nobody on earth could satisfy this review, as far as that can be known beforehand; undefined when somebody might. */
export function impossible(requirements: readonly Requirement[], askable: Askable): string | undefined {
  const slots = requirements.reduce((sum, { quorum }) => sum + quorum, 0);
  if (requirements.length === 0) return "it asks for approval and names nobody who could give it";
  if (slots > SLOTS_MAX) return `it asks ${slots} people, and at most ${SLOTS_MAX} are ever asked`;
  const principals = requirements.filter(({ by }) => by === "principal");
  if (principals.length > 0 && askable.itself)
    return "it asks the principal to confirm, and this service acts for itself: there is no such person";
  if (principals.reduce((sum, { quorum }) => sum + quorum, 0) > 1)
    return "it asks the principal to confirm more than once, and one person stands for one answer";
  const brief = requirements.find(({ withinMs }) => withinMs <= askable.sendMs);
  if (brief !== undefined)
    return `an approval for ${brief.policy} ends after ${brief.withinMs} ms, before the change could be sent under it`;
  if (!askable.passkeys && requirements.some(({ assurance }) => assurance?.webauthn === true))
    return "it asks for a passkey's signature, and this installation has no passkeys";
  const empty = requirements.find(({ quorum }) => quorum < 1);
  return empty === undefined ? undefined : `${empty.policy} asks nobody`;
}

/** The answer as the authorization and the receipt keep it: who stood for which rule, how sure it was, until when. */
export function approvalsOf({ slots }: Answered): readonly JsonObject[] {
  return slots.flatMap(({ requirement, approval, until }) => {
    if (approval === undefined || until === undefined) return [];
    const { person, client, at, comment, authentication, signed } = approval;
    const { policy, role, reason } = requirement;
    return [
      {
        person,
        client,
        policy,
        role,
        reason,
        at,
        until,
        ...(comment === undefined ? {} : { comment }),
        ...(authentication === undefined ? {} : { authentication: { ...authentication } }),
        // A SignedApproval is plain JSON; the interface only names its members.
        ...(signed === undefined ? {} : { signed: signed as unknown as JsonObject }),
      },
    ];
  });
}

/** Who gave it, as far as it was kept: enough to ask policy again. */
export function approverOf(tenantId: TenantId, approval: Approval): Session {
  const { person, client, roles, authentication } = approval;
  return {
    tenantId,
    principalId: person,
    clientId: client,
    roles,
    delegation: [],
    ...(authentication === undefined ? {} : { authentication }),
  };
}

/** The challenge of an authenticator (base64url): the SHA-256 over `writ.approval.v1`, a zero byte and the statement's canonical form. */
export function challengeOf(statement: ApprovalStatement): string {
  // An ApprovalStatement is plain JSON; the interface only names its members.
  return digestOf("writ.approval.v1", statement as unknown as JsonObject).slice("sha-256:".length);
}
