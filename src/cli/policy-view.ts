import type { RuleChange } from "../core/policy-diff.ts";
import type { Screen } from "./screen.ts";

/** What changes between the rules that stand and others, a rule after the other. */
export function ruleChanges(
  { paint }: Screen,
  { changes, standing }: { readonly changes: readonly RuleChange[]; readonly standing: string },
): readonly string[] {
  if (changes.length === 0) return ["No rule changes."];
  const lines = changes.flatMap(({ how, id, tends, before, after }) => [
    `${how.padEnd(7)}  ${id}  ${paint.dim(tends === "either" ? "" : `(permits ${tends === "wider" ? "more" : "less"})`)}`,
    ...marked("-", before).map(paint.red),
    ...marked("+", after).map(paint.green),
  ]);
  return [`Against ${standing === "" ? "no policy" : standing}:`, ...lines];
}

function marked(sign: string, text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split("\n").map((line) => `  ${sign} ${line}`);
}
