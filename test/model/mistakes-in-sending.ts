import { REAL } from "./rules.ts";
import { AUTHORITY, LOOKUP, NOTHING, type Variant } from "./variant.ts";

export const SENDING: readonly Variant[] = [
  {
    name: "an ended lease is taken over",
    where: NOTHING,
    breaks: "I2",
    rules: {
      steals: (progress, clock) =>
        progress.state === "executing" && clock >= (progress.attempts.at(-1)?.leaseUntil ?? clock),
      advance: (before, happening) =>
        REAL.advance(happening.type === "claimed" ? { ...before, state: "authorized" } : before, happening),
    },
  },
  {
    name: "an ended lease means that nothing happened",
    where: NOTHING,
    breaks: "I2",
    rules: {
      advance: (before, happening) => {
        const step = REAL.advance(before, happening);
        return happening.type === "lease_ended" && step.ok
          ? { ok: true, progress: { ...step.progress, state: "authorized" } }
          : step;
      },
    },
  },
  {
    name: "a claim with a lost answer is read again without its claim id",
    where: NOTHING,
    breaks: "I2",
    rules: { mine: (progress) => (progress.state === "executing" ? progress.attempts.at(-1)?.n : undefined) },
  },
  {
    name: "a claim is made over any revision",
    where: NOTHING,
    breaks: "I2",
    rules: {
      claimsCompare: false,
      advance: (before, happening) => {
        const open = before.state === "executing" || before.state === "unknown";
        return REAL.advance(
          happening.type === "claimed" && open ? { ...before, state: "authorized" } : before,
          happening,
        );
      },
    },
  },
  { name: "there is no send gate", where: LOOKUP, breaks: "I4", rules: { gate: () => ({ open: true }) } },
  {
    name: "the send gate trusts the clock of the claim, not what has passed since",
    where: LOOKUP,
    breaks: "I4",
    rules: {
      gate: (progress, sending, contract, clock, sinceMs) =>
        REAL.maySend(progress, sending, contract, clock - sinceMs, 0),
    },
  },
  {
    name: "a request may live as long as it may be paused before",
    where: LOOKUP,
    breaks: "I4",
    rules: { requestLife: (contract) => contract.requestLifeMs + contract.maxPauseMs },
  },
  {
    name: "the permission's end is compared without request life and pause",
    where: AUTHORITY,
    breaks: "I1",
    rules: {
      maySend: (progress, sending, contract, clock, since) =>
        REAL.maySend(
          progress,
          { ...sending, expiresAt: sending.expiresAt + contract.requestLifeMs + contract.maxPauseMs },
          contract,
          clock,
          since,
        ),
      gate: (progress, sending, contract, clock, since) =>
        REAL.maySend(
          progress,
          { ...sending, expiresAt: sending.expiresAt + contract.requestLifeMs + contract.maxPauseMs },
          contract,
          clock,
          since,
        ),
    },
  },
  {
    name: "the permission's end is asked at the claim only",
    where: AUTHORITY,
    breaks: "I1",
    rules: {
      gate: (progress, sending, contract, clock, since) =>
        REAL.maySend(progress, { ...sending, expiresAt: Number.POSITIVE_INFINITY }, contract, clock, since),
    },
  },
  {
    name: "the permission's end is taken one moment later",
    where: AUTHORITY,
    breaks: "I1",
    rules: {
      maySend: (progress, sending, contract, clock, since) =>
        REAL.maySend(progress, { ...sending, expiresAt: sending.expiresAt + 1 }, contract, clock, since),
      gate: (progress, sending, contract, clock, since) =>
        REAL.maySend(progress, { ...sending, expiresAt: sending.expiresAt + 1 }, contract, clock, since),
    },
  },
  {
    name: "a claim does not compare the epoch",
    where: AUTHORITY,
    breaks: "I1",
    rules: { epochHolds: () => true },
  },
  {
    name: "a repeat does not ask authority again",
    where: AUTHORITY,
    breaks: "I1",
    rules: { repeatsAskAgain: false },
  },
];
