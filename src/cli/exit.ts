import { Refused, Unanswered } from "../client.ts";
import type { OperationAnswer, ProblemAnswer } from "../wire.ts";

/** What a command's end says to a script. One number, one meaning, on every command. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  denied: 3,
  unauthenticated: 4,
  waiting: 5,
  unknown: 6,
  conflict: 7,
  /** Something was tried at the provider, and is not as was claimed. */
  broken: 8,
  /** It was tried, and showed too little. */
  unproved: 9,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A command ends here with one sentence for the person, and a number for the script. */
export class Stop extends Error {
  override readonly name = "Stop";
  readonly exit: ExitCode;
  /** What to do now. */
  readonly next: string | undefined;
  constructor(exit: ExitCode, message: string, next?: string) {
    super(message);
    this.exit = exit;
    this.next = next;
  }
}

type Code = ProblemAnswer["code"];

const BY_CODE: Readonly<Partial<Record<Code, ExitCode>>> = {
  unauthenticated: EXIT.unauthenticated,
  insufficient_user_authentication: EXIT.unauthenticated,
  forbidden: EXIT.denied,
  insufficient_scope: EXIT.denied,
  denied: EXIT.denied,
  review_denied: EXIT.denied,
  revoked: EXIT.denied,
  precondition_failed: EXIT.conflict,
  superseded: EXIT.conflict,
  cancelled: EXIT.conflict,
  looks_the_same: EXIT.conflict,
  equal_effect_in_doubt: EXIT.conflict,
  key_reused: EXIT.conflict,
  key_spent: EXIT.conflict,
  not_cancellable: EXIT.conflict,
  not_executable: EXIT.conflict,
  not_settled: EXIT.conflict,
  finding_refused: EXIT.conflict,
  policy_moved: EXIT.conflict,
  decision_refused: EXIT.conflict,
  expired: EXIT.conflict,
};

export function exitOfProblem(code: Code): ExitCode {
  return BY_CODE[code] ?? EXIT.error;
}

/** What an operation, asked for now, means to the script that wanted its effect. */
export function exitOfOperation(operation: Pick<OperationAnswer, "state" | "reason" | "execute">): ExitCode {
  switch (operation.state) {
    case "succeeded":
      return EXIT.ok;
    case "proposed":
      return EXIT.waiting;
    case "authorized":
      // Proposed for later: what was asked for is done. Otherwise nobody knows yet how it ends.
      return operation.execute === "later" ? EXIT.ok : EXIT.unknown;
    case "executing":
    case "unknown":
      return EXIT.unknown;
    case "rejected":
      return operation.reason === undefined ? EXIT.error : exitOfProblem(operation.reason);
  }
}

/** Of anything thrown. Silence after a proposal is an unknown outcome, never an error. */
export function exitOfError(error: unknown): ExitCode {
  if (error instanceof Stop) return error.exit;
  if (error instanceof Refused) return exitOfProblem(error.problem.code);
  if (error instanceof Unanswered) return error.intentKey === undefined ? EXIT.error : EXIT.unknown;
  return EXIT.error;
}
