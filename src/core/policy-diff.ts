/** A rule as two versions of a policy are compared by. */
export interface RuleText {
  readonly id: string;
  readonly effect: "permit" | "forbid";
  readonly text: string;
}

export interface RuleChange {
  readonly id: string;
  readonly how: "added" | "removed" | "changed";
  readonly before?: string;
  readonly after?: string;
  /** What the change can only do: permit more, permit less, or either. */
  readonly tends: "wider" | "narrower" | "either";
}

/** What changes between two sets of rules, by id; the order of rules means nothing. */
export function policyDiff(before: readonly RuleText[], after: readonly RuleText[]): readonly RuleChange[] {
  const old = new Map(before.map((rule) => [rule.id, rule]));
  const fresh = new Map(after.map((rule) => [rule.id, rule]));
  const ids = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  return ids.flatMap((id) => changeOf(id, old.get(id), fresh.get(id)) ?? []);
}

function changeOf(id: string, was: RuleText | undefined, is: RuleText | undefined): RuleChange | undefined {
  if (was !== undefined && is !== undefined)
    return was.text === is.text
      ? undefined
      : { id, how: "changed", before: was.text, after: is.text, tends: "either" };
  if (is !== undefined)
    return { id, how: "added", after: is.text, tends: is.effect === "permit" ? "wider" : "narrower" };
  if (was !== undefined)
    return { id, how: "removed", before: was.text, tends: was.effect === "permit" ? "narrower" : "wider" };
  return undefined;
}
