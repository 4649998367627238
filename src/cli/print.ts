import { stripVTControlCharacters } from "node:util";
import { plain, type Screen } from "./screen.ts";

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | undefined;
  readonly paint?: (text: string, row: Row) => string;
  /** Gives way first when the screen is narrow; cut at the end. */
  readonly gives?: boolean;
}

const GAP = 2;
const GIVING_MIN = 12;

/** Rows under quiet titles, as wide as they need and as the screen allows. */
export function table<Row>(screen: Screen, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map((column) => plain(column.of(row) ?? "")));
  const widths = fitted(screen, cells, columns);
  const line = (texts: readonly string[], painted: (text: string, index: number) => string): string =>
    texts
      .map((text, index) =>
        painted(cut(text, widths[index] ?? 0).padEnd(last(index) ? 0 : (widths[index] ?? 0)), index),
      )
      .join(" ".repeat(GAP))
      .trimEnd();
  const last = (index: number): boolean => index === columns.length - 1;
  const titles = columns.map((column) => column.title.toUpperCase());
  return [
    line(titles, (text) => screen.paint.dim(text)),
    ...cells.map((texts, at) =>
      line(texts, (text, index) => {
        const row = rows[at];
        const paint = columns[index]?.paint;
        return row === undefined || paint === undefined ? text : paint(text, row);
      }),
    ),
  ].join("\n");
}

function fitted<Row>(
  screen: Screen,
  cells: readonly (readonly string[])[],
  columns: readonly Column<Row>[],
): readonly number[] {
  const wanted = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((texts) => texts[index]?.length ?? 0)),
  );
  let over = wanted.reduce((sum, width) => sum + width + GAP, -GAP) - screen.width;
  return wanted.map((width, index) => {
    if (over <= 0 || columns[index]?.gives !== true) return width;
    const given = Math.min(over, Math.max(0, width - GIVING_MIN));
    over -= given;
    return width - given;
  });
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** `name   value` lines; what is absent is left out. Long values go on under their own beginning. */
export function facts(screen: Screen, entries: readonly (readonly [string, string | undefined])[]): string {
  const present = entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const width = Math.max(0, ...present.map(([name]) => name.length)) + GAP;
  return present
    .map(([name, value]) => {
      const [first = "", ...more] = wrapped(value, screen.width - width);
      return [
        screen.paint.dim(name.padEnd(width)) + first,
        ...more.map((text) => " ".repeat(width) + text),
      ].join("\n");
    })
    .join("\n");
}

/** Breaks at spaces, and inside a word only where the word alone is longer than a line. Colour codes take no room. */
export function wrapped(text: string, width: number): readonly string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ").flatMap((each) => pieces(each, width))) {
      const longer = line === "" ? word : `${line} ${word}`;
      if (line !== "" && shownLength(longer) > width) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    return [...lines, line];
  });
}

function pieces(word: string, width: number): readonly string[] {
  if (width < 1 || shownLength(word) <= width || word.includes("\u001b")) return [word];
  return Array.from({ length: Math.ceil(word.length / width) }, (_, at) =>
    word.slice(at * width, (at + 1) * width),
  );
}

export function shownLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

export function indented(text: string, by: number): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? line : " ".repeat(by) + line))
    .join("\n");
}

/** How long ago, or how soon, in one unit: a list is skimmed. */
export function ago(time: string | undefined, nowMs: number): string | undefined {
  if (time === undefined) return undefined;
  const seconds = Math.round((nowMs - Date.parse(time)) / 1000);
  const size = Math.abs(seconds);
  const text =
    size < 60
      ? `${size} s`
      : size < 3600
        ? `${Math.round(size / 60)} min`
        : size < 86_400
          ? `${Math.round(size / 3600)} h`
          : `${Math.round(size / 86_400)} d`;
  return seconds >= 0 ? `${text} ago` : `in ${text}`;
}
