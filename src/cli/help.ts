import type { Command, Help } from "commander";
import { wrapped } from "./print.ts";
import type { Colours } from "./screen.ts";

const TERM_WIDTH = 13;
const WIDTH_MAX = 100;

/** The first page: every command in a line, in the groups that people think in. */
export function rootHelp(writ: Command, help: Pick<Help, "helpWidth">, paint: Colours): string {
  const width = Math.min(WIDTH_MAX, help.helpWidth ?? WIDTH_MAX);
  const groups = new Map<string, readonly Command[]>();
  for (const command of writ.commands)
    groups.set(command.helpGroup(), [...(groups.get(command.helpGroup()) ?? []), command]);
  const parts = [...groups].map(([title, commands]) =>
    [
      paint.bold(title),
      ...commands.map((command) =>
        row(paint, width, command.name(), command.summary() || command.description()),
      ),
    ].join("\n"),
  );
  return [
    `${paint.bold("writ")}  ${writ.description()}`,
    ...parts,
    [
      paint.bold("Everywhere"),
      row(paint, width, "-o <format>", "table for people; json, jsonl or yaml for programs"),
      row(paint, width, "--as <who>", "agent, resolver or operator: whose token of `writ dev`"),
      row(paint, width, "-h", "this, or a command's own help"),
      row(paint, width, "-V", "the version"),
    ].join("\n"),
    [
      paint.dim("Connects to WRIT_URL with WRIT_TOKEN, else to the `writ dev` of this folder."),
      ...EXITS.map((line) => paint.dim(line)),
    ].join("\n"),
    "",
  ]
    .join("\n\n")
    .replace(/\n+$/, "\n");
}

const EXITS = [
  "Ends with 0 ok · 1 error · 2 usage · 3 denied · 4 authentication · 5 waiting for people",
  "          6 outcome unknown · 7 conflict · 8 not as claimed · 9 not enough evidence",
];

function row(paint: Colours, width: number, term: string, text: string): string {
  const lines = wrapped(text, width - TERM_WIDTH - 2);
  return lines
    .map(
      (line, index) =>
        `  ${index === 0 ? paint.cyan(term) + " ".repeat(TERM_WIDTH - term.length) : " ".repeat(TERM_WIDTH)}${line}`,
    )
    .join("\n");
}
