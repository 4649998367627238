import type { ExplanationAnswer, HistoryAnswer } from "../wire/record.ts";
import type { OperationAnswer } from "../wire.ts";
import { ago, type Column, facts, table, wrapped } from "./print.ts";
import { type Colours, plain, type Screen } from "./screen.ts";

type State = OperationAnswer["state"];

/** One colour for one state, everywhere. The word is always there too. */
function stateColour(paint: Colours, state: State): (text: string) => string {
  switch (state) {
    case "succeeded":
      return paint.green;
    case "rejected":
      return paint.red;
    case "unknown":
      return paint.yellow;
    case "proposed":
      return paint.magenta;
    case "authorized":
    case "executing":
      return paint.cyan;
  }
}

/** The state, with its reason when there is one. */
export function stateText({ state, reason }: Pick<OperationAnswer, "state" | "reason">): string {
  return reason === undefined ? state : `${state} (${reason})`;
}

export function operationText(screen: Screen, operation: OperationAnswer): string {
  const { paint } = screen;
  const colour = stateColour(paint, operation.state);
  const head = `${colour(paint.bold(stateText(operation)))}  ${operation.tool}  ${plain(operation.resource)}`;
  const { authorization, evidence, attempts } = operation;
  return [
    head,
    ...wrapped(plain(operation.meaning), screen.width),
    "",
    facts(screen, [
      ["operation", operation.operationId],
      ["asked by", plain(`${operation.client} for ${operation.principal}`)],
      [
        "note",
        operation.note === undefined ? undefined : plain(`“${operation.note}” (the agent's own words)`),
      ],
      [
        "expected",
        operation.expectedVersion === undefined ? undefined : `version ${operation.expectedVersion}`,
      ],
      ["current", operation.currentVersion === undefined ? undefined : `version ${operation.currentVersion}`],
      ["digest", operation.digest],
      [
        "authorized",
        authorization &&
          `by ${authorization.policies.join(", ") || "policy"}, until ${authorization.expiresAt}`,
      ],
      ["attempts", attempts.length === 0 ? "none" : attempts.map(attemptText).join("\n")],
      ["evidence", evidence && plain(`${evidence.kind} ${JSON.stringify(evidence.data)}`)],
      ["person", operation.attention === undefined ? undefined : plain(`needed: ${operation.attention}`)],
      ["intent key", operation.intentKey],
      ["proposed", operation.createdAt],
      ["settled", operation.settledAt],
      ["due", operation.dueAt],
      ["next", plain(operation.next)],
    ]),
  ].join("\n");
}

function attemptText({ n, learned, detail }: OperationAnswer["attempts"][number]): string {
  const word = learned === "nothing" ? "under way" : learned;
  return plain(detail === undefined ? `${n} ${word}` : `${n} ${word}: ${detail}`);
}

export function operationsText(
  screen: Screen,
  operations: readonly OperationAnswer[],
  nowMs: number,
): string {
  const columns: readonly Column<OperationAnswer>[] = [
    { title: "operation", of: (row) => row.operationId },
    {
      title: "state",
      of: stateText,
      paint: (text, row) => stateColour(screen.paint, row.state)(text),
    },
    { title: "tool", of: (row) => row.tool, gives: true },
    { title: "resource", of: (row) => row.resource, gives: true },
    { title: "proposed", of: (row) => ago(row.createdAt, nowMs) },
  ];
  return table(screen, operations, columns);
}

const PARTS = [
  ["authorizedBy", "Authorized by"],
  ["against", "Against"],
  ["attempts", "Attempts"],
  ["evidence", "Evidence"],
  ["next", "What happens next"],
] as const;

/** The four answers, and the fifth while it is open. */
export function explanationText(screen: Screen, explanation: ExplanationAnswer): string {
  const { paint } = screen;
  const colour = stateColour(paint, explanation.state);
  const head = `${colour(paint.bold(explanation.state))}  ${paint.dim(explanation.operationId)}`;
  const parts = PARTS.flatMap(([name, title]) => {
    const part = explanation[name];
    return part === undefined ? [] : ["", paint.bold(title), ...bullets(screen, part.lines)];
  });
  return [head, ...wrapped(plain(explanation.summary), screen.width), ...parts].join("\n");
}

function bullets(screen: Screen, lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) =>
    wrapped(plain(line), screen.width - 4).map((text, index) =>
      index === 0 ? `  · ${text}` : `    ${text}`,
    ),
  );
}

export function historyText(screen: Screen, history: HistoryAnswer): string {
  const rows = table(screen, history.events, [
    { title: "n", of: (event) => String(event.n) },
    { title: "at", of: (event) => event.at },
    { title: "event", of: (event) => event.type },
    { title: "who", of: (event) => valuesOf(event.actor), gives: true },
    { title: "what", of: (event) => JSON.stringify(event.data), gives: true },
  ]);
  const chain =
    history.chainBroken === undefined
      ? screen.paint.dim("Each event names the one before it by hash; the chain is whole.")
      : screen.paint.red(`The chain does not hold: ${history.chainBroken}.`);
  return `${rows}\n\n${chain}`;
}

function valuesOf(actor: object): string {
  return Object.values(actor)
    .filter((value): value is string => typeof value === "string")
    .join(", ");
}
