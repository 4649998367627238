import { holds, inWords, type Row } from "./row.ts";

const TITLES = ["server", "contract", "case", "claimed", "seen", "attempts", "lookups", "ms", ""];

function cells(row: Row): readonly string[] {
  const { server, subject, claimed, seen, ms } = row;
  return [
    server,
    subject,
    row.case,
    inWords(claimed),
    inWords(seen, seen.reason),
    String(seen.attempts),
    String(seen.lookups),
    String(ms),
    holds(row) ? "holds" : "BROKEN",
  ];
}

/** For a terminal: columns as wide as they need, a server's and a contract's name once. */
export function plainTable(rows: readonly Row[]): string {
  const lines = [TITLES.map((title) => title.toUpperCase()), ...rows.map(cells)];
  const widths = TITLES.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line, n) => {
      const above = n > 1 ? lines[n - 1] : undefined;
      const same = (at: number): boolean => line.slice(0, at + 1).every((cell, i) => cell === above?.[i]);
      return line
        .map((cell, at) => (at < 2 && same(at) ? "" : cell).padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd();
    })
    .join("\n");
}

/** For docs/conformance.md: one table a server and contract. Times are left out, they say more about the machine. */
export function markdownTables(rows: readonly Row[]): string {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const title = `${row.server}: ${row.subject}`;
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  return [...groups]
    .map(([title, of]) =>
      [
        `### ${title}`,
        "",
        "| case | claimed | seen | attempts | lookups |",
        "| --- | --- | --- | --- | --- |",
        ...of.map((row) => `| ${cells(row).slice(2, 7).join(" | ")} |`),
        "",
      ].join("\n"),
    )
    .join("\n");
}

/** By server and contract, and within them in the order of the cases. */
export function sorted(rows: readonly Row[], order: readonly string[]): readonly Row[] {
  return [...rows].sort(
    (left, right) =>
      left.server.localeCompare(right.server, "en") ||
      left.subject.localeCompare(right.subject, "en") ||
      order.indexOf(left.case) - order.indexOf(right.case),
  );
}
