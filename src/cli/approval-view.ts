import { inert } from "../core/display.ts";
import type { ApprovalAnswer, AskedAnswer, FieldAnswer } from "../wire/approval.ts";
import { ago, facts, table } from "./print.ts";
import type { Screen } from "./screen.ts";

/** Everything that is decided on, in words and whole: nothing is cut, and nothing in it can move the cursor or turn the line. */
export function approvalText(screen: Screen, view: ApprovalAnswer): string {
  const { tint } = screen;
  const facing = { ...screen, paint: screen.tint };
  const version =
    view.expectedVersion === undefined
      ? "any version: it may change before this runs"
      : `only at version ${inert(view.expectedVersion)}${moved(view)}`;
  return [
    tint.bold(inert(view.title)),
    "",
    facts(facing, [
      ["operation", view.operationId],
      ["state", view.state],
      ["tool", inert(view.tool)],
      ["resource", inert([view.resource, ...view.parents].join(" in "))],
      ...view.fields.map(
        ({ name, shown, before }) => [`  ${name}`, `${beforeText(before)}${shown}`] as const,
      ),
      ["at", version],
      ["provider", inert(view.provider)],
      ["reversible", reversible(view)],
      ["tenant", view.tenant],
      ["for", inert(view.principal)],
      ["asked by", inert(view.client)],
      ["through", throughText(view)],
      ["answers", view.asked.map(askedText).join("\n")],
      ["rules", `${view.policies.map(inert).join(", ")} of ${view.policyVersion}`],
      ["until", view.until],
      ["digest", view.digest],
    ]),
    ...warnings(screen, view),
    ...promised(screen, view),
    ...noted(screen, view),
  ].join("\n");
}

function moved({ expectedVersion, currentVersion }: ApprovalAnswer): string {
  if (currentVersion === undefined || currentVersion === expectedVersion) return "";
  return `; it is at ${inert(currentVersion)} now, so this will not be applied`;
}

/** What stands there now, where it is known. */
function beforeText(before: FieldAnswer["before"]): string {
  if (before === undefined) return "";
  return `${inert(typeof before === "string" ? before : JSON.stringify(before))} → `;
}

function reversible({ reversible: can }: ApprovalAnswer): string {
  if (can === undefined) return "not known: its tool is not offered here any more";
  return can ? "yes, by another change" : "no";
}

function throughText({ delegation }: ApprovalAnswer): string | undefined {
  return Array.isArray(delegation) && delegation.length > 0 ? inert(JSON.stringify(delegation)) : undefined;
}

function askedText({ policy, role, by, reason, answered, mine, why }: AskedAnswer): string {
  const who = by === "principal" ? "the principal" : role;
  const state =
    answered === undefined
      ? mine
        ? "waits for you"
        : `waits${why === undefined ? "" : `, not for you: ${why}`}`
      : `${answered.person} said yes at ${answered.at}`;
  return inert(`${who} (${policy}: ${reason}): ${state}`);
}

function warnings({ tint }: Screen, { fields }: ApprovalAnswer): readonly string[] {
  const lines = fields.flatMap(({ name, warnings: all, described }) => [
    ...all.map((each) => `${name}: ${each}`),
    ...(described ? [] : [`${name}: not described by the tool`]),
  ]);
  return lines.length === 0 ? [] : ["", ...lines.map((line) => tint.yellow(`! ${inert(line)}`))];
}

function promised({ tint }: Screen, { promise }: ApprovalAnswer): readonly string[] {
  if (promise.length === 0) return [];
  return [
    "",
    tint.dim("What the provider's contract promises"),
    ...promise.map((line) => `  · ${inert(line)}`),
  ];
}

/** Apart, last, and said to be nobody's word but the agent's. */
function noted({ tint }: Screen, { note }: ApprovalAnswer): readonly string[] {
  return note === undefined ? [] : ["", tint.dim("What the agent says (not checked)"), `  ${note}`];
}

export function approvalsText(screen: Screen, views: readonly ApprovalAnswer[], nowMs: number): string {
  return table(screen, views, [
    { title: "operation", of: (row) => row.operationId },
    { title: "change", of: (row) => inert(row.title), gives: true },
    { title: "resource", of: (row) => inert(row.resource), gives: true },
    { title: "for", of: (row) => inert(row.principal), gives: true },
    { title: "until", of: (row) => ago(row.until, nowMs) },
    { title: "you", of: (row) => (row.waitsForMe ? "yes" : (row.said?.decision ?? "no")) },
  ]);
}
