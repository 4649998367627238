import { expect, test } from "vitest";
import { EXIT, exitOfError, exitOfOperation, exitOfProblem, Stop } from "../../src/cli/exit.ts";
import { Refused, Unanswered } from "../../src/client.ts";
import type { Reason } from "../../src/core/operation.ts";
import { PROBLEMS, type ProblemCode } from "../../src/core/problem.ts";
import { REASONS } from "../../src/wire.ts";

const codes = Object.keys(PROBLEMS) as ProblemCode[]; // The keys of the one table of problems.

test("the numbers are those that scripts were promised", () => {
  expect(EXIT).toEqual({
    ok: 0,
    error: 1,
    usage: 2,
    denied: 3,
    unauthenticated: 4,
    waiting: 5,
    unknown: 6,
    conflict: 7,
    broken: 8,
    unproved: 9,
  });
});

test("a problem ends with what its status means to a script", () => {
  for (const code of codes) {
    const status = PROBLEMS[code];
    const exit = exitOfProblem(code);

    if (status === 401) expect([code, exit]).toEqual([code, EXIT.unauthenticated]);
    else if (status === 403) expect([code, exit]).toEqual([code, EXIT.denied]);
    else if (status === 412 || status === 410) expect([code, exit]).toEqual([code, EXIT.conflict]);
    else if (status >= 500 || status === 400) expect([code, exit]).toEqual([code, EXIT.error]);
    else expect([EXIT.error, EXIT.conflict]).toContain(exit);
  }
});

test.each([
  ["key_reused", EXIT.conflict],
  ["looks_the_same", EXIT.conflict],
  ["equal_effect_in_doubt", EXIT.conflict],
  ["not_cancellable", EXIT.conflict],
  ["provider_refused", EXIT.error],
  ["not_found", EXIT.error],
  ["limit_exceeded", EXIT.error],
] as const)("%s ends with %i", (code, exit) => {
  expect(exitOfProblem(code)).toBe(exit);
});

test("an operation ends with what became of its effect", () => {
  const now = { execute: "now" } as const;

  expect(exitOfOperation({ ...now, state: "succeeded" })).toBe(EXIT.ok);
  expect(exitOfOperation({ ...now, state: "proposed" })).toBe(EXIT.waiting);
  expect(exitOfOperation({ ...now, state: "executing" })).toBe(EXIT.unknown);
  expect(exitOfOperation({ ...now, state: "unknown" })).toBe(EXIT.unknown);
  expect(exitOfOperation({ ...now, state: "authorized" })).toBe(EXIT.unknown);
  expect(exitOfOperation({ execute: "later", state: "authorized" })).toBe(EXIT.ok);
  for (const reason of REASONS as readonly Reason[])
    expect(exitOfOperation({ ...now, state: "rejected", reason })).toBe(exitOfProblem(reason));
});

test("silence after a proposal is an unknown outcome, and silence after a question an error", () => {
  expect(exitOfError(new Unanswered("no answer", "a-key"))).toBe(EXIT.unknown);
  expect(exitOfError(new Unanswered("no answer"))).toBe(EXIT.error);
  expect(exitOfError(new Stop(EXIT.usage, "say what"))).toBe(EXIT.usage);
  expect(exitOfError(new TypeError("a mistake of ours"))).toBe(EXIT.error);
  const problem = { type: "x", title: "x", status: 403, detail: "no", code: "denied" } as const;
  expect(exitOfError(new Refused(problem, undefined))).toBe(EXIT.denied);
});
