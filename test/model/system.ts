import type { Authorization } from "../../src/core/authorization.ts";
import type { Finding } from "../../src/core/inquiry.ts";
import type { Reason } from "../../src/core/operation.ts";
import type { Plan, Standing } from "../../src/core/recovery.ts";
import type { ContractClass } from "./contract-class.ts";
import { LEARNED, type Rules, write } from "./rules.ts";
import { claimable, type Scene } from "./scene.ts";
import type { Authority, World } from "./world.ts";

/** What the core would do next with an operation in doubt. */
export function planOf(world: World, cls: ContractClass, rules: Rules): Plan | undefined {
  if (world.ledger.state !== "unknown") return undefined;
  return rules.next(cls.contract, world.ledger, standingNow(world, cls, rules), world.clock);
}

/** A repeat needs the same answer and obligations as before; a halt or a changed answer ends the permission to repeat. */
function standingNow(world: World, cls: ContractClass, rules: Rules): Standing {
  const standing = rules.standingOf(world.ledger, cls.contract, world.clock);
  if (!rules.repeatsAskAgain || rules.epochHolds(world.ledger.authorization?.epoch ?? -1, world.epoch))
    return standing;
  if (world.authority === "halt") return { live: false, why: "halted" };
  return world.authority === "allow" ? standing : { live: false, why: "revoked" };
}

/** What the ledger's reader does without any worker's memory: one think and one commit. And what people do. */
export function systemSteps(scene: Scene): void {
  switch (scene.world.ledger.state) {
    case "authorized":
      decideAgain(scene);
      secondThoughts(scene);
      break;
    case "executing":
      endLease(scene);
      break;
    case "unknown":
      believe(scene);
      rule(scene);
      break;
    case "proposed":
      review(scene);
      break;
    case "succeeded":
    case "rejected":
      break;
  }
}

function endLease({ world, rules, emit }: Scene): void {
  const ended = rules.leaseEnds ? write(world, rules, { type: "lease_ended", at: world.clock }) : undefined;
  if (ended !== undefined) emit(ended, "lease_ended", -1, 0);
}

/** Authority is evaluated afresh where it changed; what can no longer be claimed is rejected with its reason. */
function decideAgain(scene: Scene): void {
  const { world, cls, rules } = scene;
  const { authorization, attempts } = world.ledger;
  if (authorization === undefined) return;
  if (!rules.epochHolds(authorization.epoch, world.epoch) && world.authority !== "halt")
    answerAnew(scene, authorization);
  else if (attempts.length >= cls.contract.attemptsMax) deny(scene, "not_applied", "deny_spent");
  else if (!claimable({ ...world, authority: "allow", epoch: authorization.epoch }, cls, rules))
    deny(scene, "expired", "deny_expired");
}

function answerAnew(scene: Scene, authorization: Authorization): void {
  const { world, rules, emit } = scene;
  if (world.authority === "deny") {
    deny(scene, "revoked", "deny_revoked");
    return;
  }
  const asks = world.authority === "review";
  const again = { type: "authorized", authorization: { ...authorization, epoch: world.epoch } } as const;
  const after = write(world, rules, asks ? { type: "reopened", review: ASKED } : again);
  if (after !== undefined) emit(after, asks ? "reopened" : "decide_again", -1, 0);
}

function deny(
  { world, rules, emit }: Scene,
  reason: Reason,
  what: "deny_revoked" | "deny_spent" | "deny_expired",
): void {
  const after = write(world, rules, { type: "denied", reason });
  if (after !== undefined) emit(after, what, -1, 0);
}

/** Row 3: a duplicate answer that means effect. */
function believe({ world, rules, emit, plan }: Scene): void {
  if (plan?.do !== "succeed") return;
  const finding = {
    kind: "confirmed",
    by: { lookup: "duplicate answer" },
    startedAt: world.clock,
    evidence: LEARNED.applied.evidence,
  } as const;
  const after = write(world, rules, { type: "found", finding, settles: "no", repeatable: false });
  if (after !== undefined) emit(after, "duplicate_succeeds", -1, 0);
}

/** A person looks at the provider and says truly what stands there now. Whether "nothing" can be believed is the core's to judge. */
function rule({ world, cls, rules, emit }: Scene): void {
  const { ledger, truth, clock } = world;
  const by = { ruling: "person" };
  const finding: Finding =
    truth.effects > 0
      ? { kind: "confirmed", by, startedAt: clock, evidence: { kind: "ruling", data: {} } }
      : { kind: "absent", by, startedAt: clock, authoritative: true };
  const settles = rules.judgeAbsence(ledger, finding, cls.contract);
  if (finding.kind === "absent" && settles === "no") return;
  const inquiry = rules.observe(ledger.inquiry, finding, settles);
  const repeatable = rules.identityUsable({ attempts: [], inquiry }, cls.contract, clock);
  const after = write(world, rules, { type: "found", finding, settles, repeatable });
  if (after !== undefined)
    emit(after, finding.kind === "confirmed" ? "person_confirms" : "person_absent", -1, 0);
}

function review({ world, rules, emit }: Scene): void {
  const { authorization } = world.ledger;
  if (authorization === undefined) return;
  const denied = write(world, rules, { type: "denied", reason: "review_denied" });
  if (denied !== undefined) emit(denied, "person_denies", -1, 0);
  if (world.authority === "deny" || world.authority === "halt" || world.clock >= authorization.expiresAt)
    return;
  const approved = write(world, rules, {
    type: "authorized",
    authorization: { ...authorization, epoch: world.epoch, approvals: [{ by: "person" }] },
  });
  if (approved !== undefined) emit(approved, "approve", -1, 0);
}

/** What people said yes to they may stop until it is claimed: a no ends it, a yes that is taken back leaves too few. */
function secondThoughts({ world, rules, emit }: Scene): void {
  if (world.ledger.authorization?.approvals.length !== 1) return;
  const denied = write(world, rules, { type: "denied", reason: "review_denied" });
  if (denied !== undefined) emit(denied, "person_denies", -1, 0);
  const reopened = write(world, rules, { type: "reopened", review: ASKED });
  if (reopened !== undefined) emit(reopened, "withdrawn", -1, 0);
}

/** Whom it asks is approval.ts's matter: here a review is answered by one person, or not. */
const ASKED = {
  requirements: [],
  policyVersion: "1",
  epoch: 0,
  policies: [],
  obligations: [],
  roles: [],
  since: 1,
  approvals: [],
} as const;

/** Revocations, halts and changes of policy raise the epoch in their own commit; other people change the resource. */
export function authoritySteps({ world, cls, emit }: Scene, over: boolean): void {
  if (!over && world.changesLeft > 0) {
    for (const authority of cls.faults.authority ?? []) {
      if (authority === world.authority && authority !== "allow") continue;
      emit(
        { ...world, authority, epoch: world.epoch + 1, changesLeft: world.changesLeft - 1 },
        AUTHORITY[authority],
        -1,
        0,
      );
    }
  }
  const { truth } = world;
  if (world.otherWritesLeft > 0) {
    const left = { ...world, otherWritesLeft: world.otherWritesLeft - 1 };
    if (truth.version !== 2) emit({ ...left, truth: { ...truth, version: 2 } }, "other_writer", -1, 0);
    const { precondition } = cls.contract;
    const returns =
      precondition.kind !== "none" && precondition.versions === "may_return" && truth.version !== 0;
    if (returns) emit({ ...left, truth: { ...truth, version: 0 } }, "other_writer_returns", -1, 0);
  }
  if (world.foreignLeft > 0 && truth.content === "none") {
    emit({ ...world, foreignLeft: 0, truth: { ...truth, content: "foreign" } }, "foreign", -1, 0);
  }
}

const AUTHORITY = {
  allow: "allow",
  deny: "revoke",
  review: "review",
  halt: "halt",
} as const satisfies Record<Authority, string>;
