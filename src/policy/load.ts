import {
  type DetailedError,
  type PolicyJson,
  policySetTextToParts,
  policyToJson,
  validate,
} from "@cedar-policy/cedar-wasm/nodejs";
import type { Requirement } from "../core/policy.ts";
import type { PolicyFile, PolicyText } from "../service/policy-port.ts";
import { annotated } from "./annotations.ts";
import { APPROVE, NAMESPACE, type Schema } from "./model.ts";

/** One policy that may be evaluated. */
export interface Rule {
  readonly id: string;
  readonly effect: "permit" | "forbid";
  readonly text: string;
  readonly json: PolicyJson;
  readonly reason?: string;
  readonly requirement?: Requirement;
  readonly place: string;
}

/** Rules, or every mistake as `file:line: the sentence that mends it`; never both. */
export interface Loaded {
  readonly rules: readonly Rule[];
  readonly mistakes: readonly string[];
}

const FILES_MAX = 500;
const RULES_MAX = 5_000;
const TEXT_MAX = 4 * 1024 * 1024;
const MISTAKES_MAX = 50;

/** Splits and reads the files. What validates against which tools is asked by `validated`. */
export function parsed(policy: PolicyText): Loaded {
  const size = policy.files.reduce((sum, { text }) => sum + text.length, 0);
  if (policy.files.length > FILES_MAX || size > TEXT_MAX)
    return refused([`policies:1: there are more than ${FILES_MAX} files, or ${TEXT_MAX} characters in them`]);
  const rules = new Map<string, Rule>();
  const mistakes: string[] = [];
  for (const file of policy.files)
    for (const found of rulesOf(file)) {
      if (typeof found === "string") mistakes.push(found);
      else if (rules.has(found.id))
        mistakes.push(
          `${found.place}: "${found.id}" is the name of the rule at ${rules.get(found.id)?.place} already`,
        );
      else rules.set(found.id, found);
    }
  if (rules.size > RULES_MAX) mistakes.push(`policies:1: there are more than ${RULES_MAX} rules`);
  return mistakes.length > 0 ? refused(mistakes) : { rules: [...rules.values()], mistakes };
}

function refused(mistakes: readonly string[]): Loaded {
  return { rules: [], mistakes: mistakes.slice(0, MISTAKES_MAX) };
}

/** Strict validation against the tools' schema. A warning is a mistake: an impossible rule, a look-alike letter. */
export function validated(rules: readonly Rule[], schema: Schema): readonly string[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const policies = { staticPolicies: Object.fromEntries(rules.map(({ id, text }) => [id, text])) };
  const answer = validate({ schema, policies, validationSettings: { mode: "strict" } });
  if (answer.type === "failure") return answer.errors.map((error) => `policies:1: ${sentence(error)}`);
  const found = [...answer.validationErrors, ...answer.validationWarnings].map(
    ({ policyId, error }) => `${placeIn(byId.get(policyId), error)}: ${sentence(error)}`,
  );
  const others = answer.otherWarnings.map((error) => `policies:1: ${sentence(error)}`);
  const mistakes = [...new Set([...found, ...others])];
  return mistakes.slice(0, MISTAKES_MAX);
}

/** Whoever asks people has to say which people may answer. */
export function unanswerable(rules: readonly Rule[]): readonly string[] {
  const asking = rules.find(({ requirement }) => requirement !== undefined);
  const answers = rules.some(
    ({ effect, json }) => effect === "permit" && actionsOf(json)?.includes(APPROVE) !== false,
  );
  if (asking === undefined || answers) return [];
  return [
    `${asking.place}: it asks for an approval that nobody may give; add a permit for ${NAMESPACE}::Action::"${APPROVE}"`,
  ];
}

/** The actions that a rule's head names; undefined: every action. */
export function actionsOf({ action }: PolicyJson): readonly string[] | undefined {
  if (action.op === "All") return undefined;
  const named = "entities" in action ? action.entities : "entity" in action ? [action.entity] : [];
  return named.map((entity) => ("__entity" in entity ? entity.__entity.id : entity.id));
}

function rulesOf(file: PolicyFile): readonly (Rule | string)[] {
  const parts = policySetTextToParts(file.text);
  if (parts.type === "failure")
    return parts.errors.map((error) => `${placeOf(file, startOf(error))}: ${sentence(error)}`);
  const templates = parts.policy_templates.map(
    (text) =>
      `${placeOf(file, bytesBefore(file.text, text))}: a template has nobody to link it here; write the policy itself`,
  );
  return [...templates, ...parts.policies.map((text) => ruleOf(file, text))];
}

function ruleOf(file: PolicyFile, text: string): Rule | string {
  const place = placeOf(file, bytesBefore(file.text, text));
  const read = policyToJson(text);
  if (read.type === "failure") return `${place}: ${read.errors.map(sentence).join("; ")}`;
  const { json } = read;
  const said = annotated(json.effect, json.annotations ?? {});
  if (typeof said === "string") return `${place}: ${said}`;
  return { ...said, effect: json.effect, text, json, place };
}

/** Where the policy begins in the file. Two that are equal to the letter have one @id, which is said anyway. */
function bytesBefore(whole: string, part: string): number {
  const at = whole.indexOf(part);
  return Buffer.byteLength(whole.slice(0, Math.max(at, 0)));
}

function placeOf(file: PolicyFile, byte: number): string {
  return `${file.name}:${lineAt(file.text, byte)}`;
}

/** Cedar counts bytes. */
function lineAt(text: string, byte: number): number {
  return Buffer.from(text).subarray(0, byte).toString("utf8").split("\n").length;
}

function placeIn(rule: Rule | undefined, error: DetailedError): string {
  if (rule === undefined) return "policies:1";
  const cut = rule.place.lastIndexOf(":");
  const line = Number(rule.place.slice(cut + 1)) + lineAt(rule.text, startOf(error)) - 1;
  return `${rule.place.slice(0, cut)}:${line}`;
}

function startOf({ sourceLocations }: DetailedError): number {
  return sourceLocations?.[0]?.start ?? 0;
}

function sentence(error: DetailedError): string {
  const label = error.sourceLocations?.find((each) => each.label !== null)?.label;
  const more = [label, error.help].filter((text) => text !== null && text !== undefined && text !== "");
  return [error.message, ...more].join("; ");
}
