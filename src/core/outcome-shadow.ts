import type { Contract, Match } from "./contract.ts";
import { canonicalJson, type Json } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import { asksAnswer, asksPresence, statusMatches } from "./match.ts";

const STATUSES: readonly number[] = Array.from({ length: 400 }, (_, index) => 200 + index);

/** A rule that is never reached, because earlier ones match all that it matches and say something else. */
export function shadowedOutcomes({ outcomes }: Contract): readonly LintFinding[] {
  return outcomes.flatMap((rule, index) => {
    const earlier = outcomes.slice(0, index).map((other, at) => ({ ...other, at }));
    const { phase } = rule.when;
    const hiding =
      phase === undefined
        ? statusesOf(rule.when).map((status) => earlier.find((other) => hides(other.when, rule.when, status)))
        : phase.map((one) => earlier.find((other) => other.when.phase?.includes(one) === true));
    if (hiding.some((other) => other === undefined)) return [];
    const other = hiding.find((candidate) => candidate !== undefined && candidate.is !== rule.is);
    if (other === undefined) return [];
    const says = `never reached: /outcomes/${other.at} already says "${other.is}" of what this calls "${rule.is}"; put the narrower rule first`;
    return [{ rule: "shadowed-outcome", at: `/outcomes/${index}`, says }];
  });
}

function hides(wide: Match, narrow: Match, status: number): boolean {
  return asksAnswer(wide) && statusMatches(wide, status) && implied(wide, narrow);
}

function statusesOf(match: Match): readonly number[] {
  return STATUSES.filter((status) => statusMatches(match, status));
}

/** Does an answer that satisfies `narrow` beyond its status always satisfy `wide`? */
function implied(wide: Match, narrow: Match): boolean {
  if (!(wide.contains ?? []).every((text) => narrow.contains?.includes(text) === true)) return false;
  const headers = Object.entries(wide.headers ?? {});
  const has = Object.entries(narrow.headers ?? {}).map(([name, value]) => `${name.toLowerCase()}:${value}`);
  if (!headers.every(([name, value]) => has.includes(`${name.toLowerCase()}:${value}`))) return false;
  return Object.entries(wide.body ?? {}).every(([pointer, wanted]) =>
    bodyImplied(pointer, wanted, narrow.body ?? {}),
  );
}

function bodyImplied(pointer: string, wanted: Json, narrow: Readonly<Record<string, Json>>): boolean {
  const same = Object.hasOwn(narrow, pointer) ? narrow[pointer] : undefined;
  if (same !== undefined && canonicalJson(same) === canonicalJson(wanted)) return true;
  if (asksPresence(wanted) !== true) return false;
  // Whatever stands at a place, or below it, makes the place present.
  return Object.entries(narrow).some(
    ([place, value]) =>
      (place === pointer || place.startsWith(`${pointer}/`)) && asksPresence(value) !== false,
  );
}
