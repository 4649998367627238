import type { Evidence } from "./attempt.ts";
import type { Instant } from "./ids.ts";

/** Who answered: a lookup of the contract, or a person. */
type FindingSource =
  | { readonly lookup: string }
  | { readonly ruling: string }
  | { readonly completion: true };

/** What was learned by asking, or ruled by a person. `startedAt` is when the question left, on the database's clock. */
export type Finding =
  | {
      readonly kind: "confirmed";
      readonly by: FindingSource;
      readonly startedAt: Instant;
      readonly evidence: Evidence;
    }
  | {
      readonly kind: "absent";
      readonly by: FindingSource;
      readonly startedAt: Instant;
      readonly authoritative: boolean;
      /** The lookup saw our own barrier in place. */
      readonly sawBarrier?: boolean;
      readonly evidence?: Evidence;
    }
  | {
      readonly kind: "unclear";
      readonly by: FindingSource;
      readonly startedAt: Instant;
      readonly why: string;
    }
  /** Something stands under our identity, but with another digest. */
  | {
      readonly kind: "conflict";
      readonly by: FindingSource;
      readonly startedAt: Instant;
      readonly evidence: Evidence;
    };

/** What became of the attempt to raise the barrier. Only `raised` prevents; `refused` is never evidence. */
type BarrierState = "tried" | "raised" | "refused";

/** What all findings so far amount to: bounded, however often somebody looked. */
export interface Inquiry {
  readonly looked: number;
  readonly unclearInRow: number;
  readonly lastStartedAt?: Instant;
  /** Start of the lookup (or moment of the ruling) that settled the absence of everything sent before it. */
  readonly absentSince?: Instant;
  /** Number of the last attempt that the settled absence covers: clocks may step back, numbers do not. */
  readonly absentThrough?: number;
  readonly barrier?: BarrierState;
  /** When it stood for certain (`raised`), or when it was about to be tried. */
  readonly barrierAt?: Instant;
  /** With the barrier up, nothing sent before can act any more, whenever it arrives. */
  readonly barred?: boolean;
  readonly conflict?: boolean;
}

export const NO_INQUIRY: Inquiry = { looked: 0, unclearInRow: 0 };

/** Adds one finding. `settles` says whether an absence counts (see recovery.ts); an absence that does not is forgotten. */
export function observe(inquiry: Inquiry, finding: Finding, settles: "settled" | "barred" | "no"): Inquiry {
  const asked = {
    ...inquiry,
    looked: inquiry.looked + 1,
    lastStartedAt: Math.max(inquiry.lastStartedAt ?? 0, finding.startedAt),
    unclearInRow: finding.kind === "unclear" ? inquiry.unclearInRow + 1 : 0,
  };
  if (finding.kind === "conflict") return { ...asked, conflict: true };
  if (finding.kind !== "absent" || settles === "no") return asked;
  const absentSince = Math.max(inquiry.absentSince ?? 0, finding.startedAt);
  return settles === "barred" ? { ...asked, absentSince, barred: true } : { ...asked, absentSince };
}
