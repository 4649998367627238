import { INSTALLATION } from "./installation-settings.ts";
import type { Setting, Table } from "./settings.ts";
import { TOOL } from "./tool-settings.ts";

const HEAD = `<!-- Made from src/config/*-settings.ts; test/config/page.test.ts holds the two together (vitest -u writes it). -->
# Configuration

A folder: \`writ.yaml\`, one file for each tool in \`tools/\`, and contracts where tools say. YAML 1.2, read strictly: a member that is
not known, a duplicate, a tag or a number that is not exact is a mistake. A mistake anywhere is one error with file, line and the sentence
that mends it, and nothing of that change is applied.

**Secrets** are never written here: \`env:NAME\` names a variable, \`file:PATH\` a file (relative paths start at the folder).
**Times** are a number and a unit: \`250ms\`, \`5s\`, \`15m\`, \`24h\`, \`30d\`.
A **variable** takes the place of what the file says; lists are written with commas between.
\`*\` stands for a name that you choose, \`[]\` for each item of a list; **bold** is what must be written.
`;

/** docs/configuration.md, whole. */
export function configurationPage(): string {
  return `${HEAD}
## writ.yaml

${tableOf(INSTALLATION)}

## tools/NAME.yaml

${tableOf(TOOL)}
`;
}

function tableOf(table: Table): string {
  const rows = Object.entries(table).map(
    ([path, setting]) =>
      `| ${nameOf(path, setting)} | ${setting.takes} | ${defaultOf(setting)} | ${cell(says(setting))} |`,
  );
  return ["| setting | takes | default | what it does |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function nameOf(path: string, { must }: Setting): string {
  return must === true ? `**\`${path}\`**` : `\`${path}\``;
}

function defaultOf(setting: Setting): string {
  return setting.default === null ? "" : `\`${setting.default}\``;
}

function says({ sentence, variable, kinds }: Setting): string {
  return [
    sentence,
    ...(kinds === undefined ? [] : [`${kinds.length === 1 ? "Kind" : "Kinds"} ${kinds.join(", ")}.`]),
    ...(variable === undefined ? [] : [`Variable \`${variable}\`.`]),
  ].join(" ");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
