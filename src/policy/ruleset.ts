import { digestOf } from "../core/digest.ts";
import type { JsonObject } from "../core/json.ts";
import type { Tool } from "../core/tool.ts";
import { toolDigest } from "../core/tool.ts";
import type { PolicyText } from "../service/policy-port.ts";
import { type VerdictCache, verdictCache } from "./cache.ts";
import { parsed, type Rule, unanswerable, validated } from "./load.ts";
import { schemaOf } from "./model.ts";
import { approvalSlice, type Slice, type SliceOf, sliceFor, speaksOf } from "./slice.ts";

/** One version of the rules, ready to be asked. */
export interface Ruleset {
  readonly approvals: SliceOf;
  readonly verdicts: VerdictCache;
  /** The rules about a tool. Throws where the rules do not fit it. */
  slice(tool: Tool): Slice;
}

const SLICES_MAX = 2_000;

/** The name of rules by content. */
export function policyDigest(policy: PolicyText): string {
  return digestOf("writ.policy.v1", policy as unknown as JsonObject); // Plain JSON: names and texts.
}

/** Every mistake of these rules for these tools, as `file:line: the sentence that mends it`. */
export function mistakesIn(policy: PolicyText, tools: readonly Tool[]): readonly string[] {
  const { rules, mistakes } = parsed(policy);
  return mistakes.length > 0 ? mistakes : [...validated(rules, schemaOf(tools)), ...unanswerable(rules)];
}

/** Throws with the first mistake: rules that do not fit the tools are not asked about any of them. */
export function rulesetOf(policy: PolicyText, tools: readonly Tool[], cacheMax: number): Ruleset {
  const { rules, mistakes } = parsed(policy);
  const [first] = mistakes.length > 0 ? mistakes : validated(rules, schemaOf(tools));
  if (first !== undefined) throw new Error(first);
  const offered = new Set(tools.map(toolDigest));
  const slices = new WeakMap<Tool, Slice>();
  const byDigest = new Map<string, Slice>();
  return {
    approvals: approvalSlice(rules),
    verdicts: verdictCache(cacheMax),
    slice: (tool) => {
      const known = slices.get(tool);
      if (known !== undefined) return known;
      const digest = toolDigest(tool);
      const made =
        byDigest.get(digest) ??
        (offered.has(digest) ? sliceFor(rules, tool) : pinnedSlice(rules, tool, tools));
      if (byDigest.size >= SLICES_MAX) byDigest.clear();
      byDigest.set(digest, made);
      slices.set(tool, made);
      return made;
    },
  };
}

/** A tool as an operation pinned it may look otherwise than what the rules were validated against. */
function pinnedSlice(rules: readonly Rule[], tool: Tool, offered: readonly Tool[]): Slice {
  const others = offered.filter(({ name }) => name !== tool.name);
  const about = rules.filter(({ json }) => speaksOf(json, tool));
  const [mistake] = validated(about, schemaOf([...others, tool]));
  if (mistake !== undefined) throw new Error(`the rules do not fit the tool as it was: ${mistake}`);
  return sliceFor(rules, tool);
}
