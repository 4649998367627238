import { DatabaseError } from "pg";
import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/database/connection.ts";
import { endsSession, provesRollback, rolledBackBy, rolledBackUnsent } from "../../src/database/fault.ts";
import { type Flown, settle } from "../../src/database/flight.ts";

function serverError(code: string, severity = "ERROR"): DatabaseError {
  return Object.assign(new DatabaseError(`error ${code}`, 0, "error"), { code, severity });
}

const done = (tag: string, warned = false): Answer => ({ kind: "done", tag, rows: [], rowCount: 0, warned });
const refused = (code: string): Answer => ({ kind: "refused", error: serverError(code) });
const unreadable: Answer = { kind: "unreadable", error: new RangeError("not exact") };
const lost = (sent: boolean): Answer => ({ kind: "lost", cause: new Error("gone"), sent });

const BEGINS: Record<string, Answer> = {
  begun: done("BEGIN"),
  unbegun: refused("57014"),
  "begin lost": lost(true),
};
const STATEMENTS: Record<string, Answer> = {
  fine: done("INSERT"),
  refused: refused("23505"),
  unreadable,
  lost: lost(true),
};
const COMMITS: Record<string, Answer> = {
  committed: done("COMMIT"),
  warned: done("COMMIT", true),
  "rolled back": done("ROLLBACK"),
  "refused for a constraint": refused("23505"),
  "refused, completion unknown": refused("40003"),
  lost: lost(true),
  unsent: lost(false),
};

function verdict(flown: Flown): string {
  try {
    settle(flown);
    return "committed";
  } catch (error) {
    return (error as Error).name;
  }
}

describe("the verdict on a flight", () => {
  test.each<[begin: string, statement: string, commit: string, verdict: string]>([
    ["begun", "fine", "committed", "committed"],
    ["begun", "fine", "warned", "CommitUnknown"],
    ["begun", "fine", "rolled back", "RolledBack"],
    ["begun", "fine", "refused for a constraint", "RolledBack"],
    ["begun", "fine", "refused, completion unknown", "CommitUnknown"],
    ["begun", "fine", "lost", "CommitUnknown"],
    ["begun", "fine", "unsent", "RolledBack"],
    ["begun", "refused", "rolled back", "RolledBack"],
    ["begun", "refused", "lost", "RolledBack"],
    ["begun", "refused", "committed", "CommitUnknown"],
    ["begun", "unreadable", "committed", "CommitUnknown"],
    ["begun", "unreadable", "lost", "CommitUnknown"],
    ["begun", "unreadable", "rolled back", "RolledBack"],
    ["begun", "lost", "lost", "CommitUnknown"],
    ["begin lost", "lost", "lost", "CommitUnknown"],
    ["begin lost", "lost", "unsent", "RolledBack"],
    ["unbegun", "fine", "rolled back", "RolledBack"],
  ])("%s, %s, %s: %s", (begin, statement, commit, expected) => {
    expect(
      verdict({
        begin: BEGINS[begin] as Answer,
        statements: [STATEMENTS[statement] as Answer],
        commit: COMMITS[commit] as Answer,
        guarded: false,
      }),
    ).toBe(expected);
  });

  test("whatever was heard: committed only with a begin, every row and the bare tag COMMIT", () => {
    for (const [begin, beginAnswer] of Object.entries(BEGINS))
      for (const [statement, statementAnswer] of Object.entries(STATEMENTS))
        for (const [commit, commitAnswer] of Object.entries(COMMITS))
          for (const guarded of [true, false]) {
            const said = verdict({
              begin: beginAnswer,
              statements: [statementAnswer],
              commit: commitAnswer,
              guarded,
            });
            const path = `${begin} > ${statement} > ${commit}`;

            expect(["committed", "CommitUnknown", "RolledBack"], path).toContain(said);
            if (said === "committed") expect(path).toBe("begun > fine > committed");
            // Of a begun transaction, what the server said it committed is never called rolled back.
            if (begin === "begun" && ["committed", "warned"].includes(commit))
              expect(said, path).not.toBe("RolledBack");
          }
  });

  test("a lost commit is RolledBack only when the last statement before it was refused: there are savepoints", () => {
    const flown = { begin: done("BEGIN"), commit: lost(true), guarded: true };
    const earlier = { refusal: serverError("23505"), last: refused("23505") };

    expect(verdict({ ...flown, statements: [refused("23505"), refused("25P02")] })).toBe("RolledBack");
    expect(verdict({ ...flown, statements: [refused("23505"), done("ROLLBACK")] })).toBe("CommitUnknown");
    expect(verdict({ ...flown, statements: [refused("23505"), lost(true)] })).toBe("CommitUnknown");
    expect(verdict({ ...flown, earlier, statements: [] })).toBe("RolledBack");
    expect(verdict({ ...flown, earlier, statements: [done("ROLLBACK")] })).toBe("CommitUnknown");
  });

  test("a begin that was refused is RolledBack only where the session could not write without it", () => {
    const flown = { begin: refused("57014"), statements: [done("INSERT")], commit: done("COMMIT") };

    expect(verdict({ ...flown, guarded: true })).toBe("RolledBack");
    expect(verdict({ ...flown, guarded: false })).toBe("CommitUnknown");
  });
});

describe("an error", () => {
  test("says whether the same work may succeed later", () => {
    const retryable = (code: string) => rolledBackBy(serverError(code)).retryable;

    expect(
      ["40001", "40P01", "57P01", "57P02", "57P03", "53300", "55P03", "08006"].filter(retryable),
    ).toHaveLength(8);
    expect(["23505", "22012", "42601", "57014", "40003", "28P01"].filter(retryable)).toEqual([]);
  });

  test("of the way there passes when nobody listens yet, and not when the password is wrong", () => {
    const refusedConnection = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

    expect(rolledBackUnsent("no connection", refusedConnection)).toMatchObject({
      retryable: true,
      sqlState: undefined,
    });
    expect(rolledBackUnsent("no connection", serverError("57P03", "FATAL"))).toMatchObject({
      retryable: true,
    });
    expect(rolledBackUnsent("no connection", serverError("28P01", "FATAL"))).toMatchObject({
      retryable: false,
    });
    expect(rolledBackUnsent("no connection", new TypeError("bad URL"))).toMatchObject({ retryable: false });
  });

  test("that ends the session, or tells of trouble below the transaction, proves nothing of a commit", () => {
    for (const code of ["57P01", "08006", "XX000", "23505"])
      expect(endsSession(serverError(code, "FATAL"))).toBe(true);
    // A foreign server's connection, not ours.
    expect(endsSession(serverError("08006"))).toBe(false);
    for (const code of ["40003", "XX000", "58030", "53100", "57P01", "08006"])
      expect(provesRollback(serverError(code))).toBe(false);
    expect(provesRollback(serverError("23505", "FATAL"))).toBe(false);
    for (const code of ["23505", "40001", "57014", "P0001"])
      expect(provesRollback(serverError(code))).toBe(true);
  });
});
