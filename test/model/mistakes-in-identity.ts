import { LEARNED, REAL } from "./rules.ts";
import {
  ATOMIC,
  believing,
  conditioned,
  FIRST,
  KEY,
  latest,
  meaning,
  nominal,
  type Variant,
  windowed,
  windowOf,
} from "./variant.ts";

export const IDENTITY: readonly Variant[] = [
  {
    name: "the key's window is checked by the reconciler only",
    where: KEY,
    breaks: "I2",
    rules: {
      gate: (progress, sending, contract, clock, since) =>
        REAL.maySend(progress, sending, windowed(contract, null), clock, since),
    },
  },
  {
    name: "the key's window is taken at its face value",
    where: KEY,
    breaks: "I2",
    rules: believing(nominal),
  },
  {
    name: "the key's window is taken one moment longer",
    where: KEY,
    breaks: "I2",
    rules: believing((contract) => windowed(contract, (windowOf(contract) ?? 0) + 1)),
  },
  {
    name: "the key's window counts from the latest attempt",
    where: FIRST,
    breaks: "I2",
    rules: {
      maySend: (progress, sending, contract, clock, since) =>
        REAL.maySend(latest(progress, sending.n), sending, contract, clock, since),
      gate: (progress, sending, contract, clock, since) =>
        REAL.maySend(latest(progress, sending.n), sending, contract, clock, since),
      next: (contract, progress, standing, clock) =>
        REAL.next(windowed(contract, null), progress, standing, clock),
    },
  },
  {
    name: "a window that opens with the first request counts from the first attempt in doubt",
    where: FIRST,
    breaks: "I2",
    rules: believing((contract) => {
      const { identity } = contract;
      return identity.kind === "none"
        ? contract
        : { ...contract, identity: { ...identity, window: { ...identity.window, opens: "first_effect" } } };
    }),
  },
  {
    name: "a repeat expects the current version in place of the stored one",
    where: ATOMIC,
    breaks: "I7",
    rules: { versionOf: (n, world) => (n === 1 ? 0 : world.truth.version) },
  },
  {
    name: "an unproved compare-and-set is believed",
    where: "version compare-and-set, not atomic",
    breaks: "I2",
    rules: believing((contract) => conditioned(contract, { atomic: "probed" })),
  },
  {
    name: "a version that may return is taken for one that never does",
    where: "version that may return",
    breaks: "I2",
    rules: believing((contract) => conditioned(contract, { versions: "never_return" })),
  },
  {
    name: "a marker that only means seen is taken for an effect",
    where: "marker that only means seen",
    breaks: "I3",
    rules: believing((contract) => meaning(contract, "effect")),
  },
  {
    name: "a duplicate that may be in flight is taken for an effect",
    where: "key whose duplicate may be in flight",
    breaks: "I3",
    rules: believing((contract) => meaning(contract, "effect")),
  },
  {
    name: "other content under our identity is taken for a duplicate",
    where: "other content under our identity",
    breaks: "I3",
    rules: { outcomeOf: (lesson) => LEARNED[lesson === "mismatch" ? "duplicate" : lesson] },
  },
];
