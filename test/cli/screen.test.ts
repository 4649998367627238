import { describe, expect, test } from "vitest";
import { ago, cut, facts, shownLength, table, wrapped } from "../../src/cli/print.ts";
import { type Format, plain, type Screen, screen } from "../../src/cli/screen.ts";

interface Terminal {
  readonly out: string[];
  readonly err: string[];
  readonly screen: Screen;
}

function terminal(options: {
  readonly format?: Format;
  readonly columns?: number;
  readonly tty?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}): Terminal {
  const out: string[] = [];
  const err: string[] = [];
  const { format = "table", columns = 80, tty = true, env = {} } = options;
  const stream = (lines: string[]) => ({ isTTY: tty, columns, write: (text: string) => lines.push(text) });
  const made = screen({ format, stdout: stream(out), stderr: stream(err), stdin: { isTTY: tty }, env });
  return { out, err, screen: made };
}

test("colours are for terminals, and NO_COLOR wins over everything", () => {
  const painted = (options: Parameters<typeof terminal>[0]) =>
    terminal(options).screen.paint.red("x") !== "x";

  expect(painted({})).toBe(true);
  expect(painted({ tty: false })).toBe(false);
  expect(painted({ tty: false, env: { FORCE_COLOR: "1" } })).toBe(true);
  expect(painted({ env: { NO_COLOR: "1", FORCE_COLOR: "1" } })).toBe(false);
  expect(painted({ env: { NO_COLOR: "" } })).toBe(true);
  expect(painted({ env: { TERM: "dumb" } })).toBe(false);
  expect(painted({ format: "json" })).toBe(false);
});

test("data goes to stdout and talk to stderr", () => {
  const { screen: made, out, err } = terminal({});

  made.data("a row");
  made.talk("a remark");

  expect([out, err]).toEqual([["a row\n"], ["a remark\n"]]);
});

test.each([
  ["json", [], "[]\n"],
  ["jsonl", [{ a: 1 }, { a: 2 }], '{"a":1}\n{"a":2}\n'],
  ["jsonl", { a: 1 }, '{"a":1}\n'],
  ["yaml", { a: [1, 2] }, "a:\n  - 1\n  - 2\n"],
] as const)("%s prints the value and nothing else", (format, value, text) => {
  const { screen: made, out } = terminal({ format });

  expect(made.machine(value)).toBe(true);
  expect(out.join("")).toBe(text);
});

test("a question is only asked where somebody can answer", () => {
  expect(terminal({}).screen.asks).toBe(true);
  expect(terminal({ tty: false }).screen.asks).toBe(false);
  expect(terminal({ env: { CI: "true" } }).screen.asks).toBe(false);
});

describe.each([60, 80, 120])("at %i columns", (columns) => {
  const { screen: made } = terminal({ columns, env: { FORCE_COLOR: "1" } });
  const rows = [{ id: `op_${"0".repeat(32)}`, tool: "inventory.set_available.of.some.warehouse", by: "ada" }];

  test("a table stays within the screen, and gives up what may give", () => {
    const text = table(made, rows, [
      { title: "operation", of: (row) => row.id },
      { title: "tool", of: (row) => row.tool, gives: true, paint: made.paint.red },
      { title: "by", of: (row) => row.by },
    ]);

    for (const line of text.split("\n")) expect(shownLength(line)).toBeLessThanOrEqual(columns);
    expect(text).toContain(`op_${"0".repeat(32)}`);
  });

  test("facts are wrapped under their own beginning", () => {
    const text = facts(made, [
      ["note", "word ".repeat(60).trim()],
      ["none", undefined],
      ["digest", `sha-256:${"x".repeat(200)}`],
    ]);

    for (const line of text.split("\n")) expect(shownLength(line)).toBeLessThanOrEqual(columns);
    expect(text).not.toContain("none");
  });
});

test("somebody else's text cannot move the cursor or change colours", () => {
  expect(plain("a\u001b[2Jb\u202ec\u0007")).toBe("a�[2Jb�c�");
});

test("what is cut says so", () => {
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("abc", 4)).toBe("abc");
  expect(wrapped("", 10)).toEqual([""]);
});

test("times are told in one unit", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");

  expect(ago("2025-12-31T23:59:55Z", now)).toBe("5 s ago");
  expect(ago("2025-12-31T22:00:00Z", now)).toBe("2 h ago");
  expect(ago("2026-01-03T00:00:00Z", now)).toBe("in 2 d");
  expect(ago(undefined, now)).toBeUndefined();
});
