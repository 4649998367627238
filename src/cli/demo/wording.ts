import { Refused, Unanswered } from "../../client.ts";
import type { Effect } from "../../connectors/simulated/journal.ts";
import type { SeenRequest } from "../../connectors/simulated/premises.ts";
import type { JsonObject } from "../../core/json.ts";
import type { EventAnswer } from "../../wire/record.ts";
import type { OperationAnswer } from "../../wire.ts";
import type { Beat, Cast } from "./scene.ts";

/** Within one millisecond: what is asked comes before what is done, and that before what is learned from it. */
export const RANK = { said: 0, decided: 1, sent: 2, done: 3, learned: 4 } as const;

/** A beat with its place among those of the same millisecond. */
export interface RankedBeat extends Beat {
  readonly rank: number;
}

/** Writ's own history in plain words, from its event number `from` on. Who proposed is told by the agent's own line. */
export function eventBeats(
  history: readonly EventAnswer[],
  from: number,
  provider: Cast = "stock",
): readonly RankedBeat[] {
  return history.slice(from).flatMap((event, index): RankedBeat[] => {
    const before = history.slice(0, from + index);
    // One commit decides and claims: it is told in one line.
    if (event.type === "authorized" && history[from + index + 1]?.type === "claimed") return [];
    const told = eventSays(event, provider);
    if (told === undefined) return [];
    const last = before.at(-1);
    const permitted =
      event.type === "claimed" && last?.type === "authorized" && last.data.again !== true
        ? `permitted by ${listed(last.data.policies)}; `
        : "";
    // Section 6 of the protocol: a repeat may be refused because the first request took effect.
    const earlier = event.type === "refused" && before.filter(({ type }) => type === "claimed").length > 1;
    const says = `${permitted}${told.says}${earlier ? ". That says nothing about the attempt before." : ""}`;
    const rank = event.type === "authorized" || event.type === "claimed" ? RANK.decided : RANK.learned;
    return [{ at: Date.parse(event.at), from: "Writ", rank, ...told, says }];
  });
}

function eventSays(
  { type, actor, data }: EventAnswer,
  provider: Cast,
): Omit<Beat, "at" | "from"> | undefined {
  switch (type) {
    case "authorized":
      return data.again === true ? undefined : { says: `permitted by ${listed(data.policies)}` };
    case "denied":
      return { says: `says no: ${text(data.reason)}`, mark: "refused" };
    case "claimed":
      return { says: `attempt ${text(data.attempt)} is claimed by ${text(actor.worker)}` };
    case "confirmed":
      return { says: confirmation(data), mark: "succeeded" };
    case "refused":
      return { says: `refused: ${text(member(data.outcome, "detail"))}` };
    case "absent":
      return { says: `nothing was accepted: ${text(member(data.outcome, "why"))}` };
    case "lost":
      return { says: `lost: ${text(member(data.outcome, "cause"))}. It may have happened.`, mark: "unknown" };
    case "lease_ended":
      return { says: "its lease ended and nothing was heard. It may have happened.", mark: "unknown" };
    case "looked_up":
      return lookup(data.finding, provider);
    case "ruled":
      return { says: "keeps the ruling as evidence" };
    case "attention":
      return { says: `a person is needed: ${text(data.why)}`, mark: "unknown" };
    case "alarm":
      return { says: `alarm: ${text(data.what)}`, mark: "refused" };
    default:
      return undefined;
  }
}

function lookup(finding: unknown, provider: Cast): Omit<Beat, "at" | "from"> {
  const kind = member(finding, "kind");
  if (kind === "confirmed")
    return { says: `what stands at ${named(provider)} names this operation: it happened`, mark: "succeeded" };
  if (kind === "absent") return { says: `${named(provider)} shows nothing of this operation` };
  if (kind === "conflict")
    return { says: `another content stands under this operation's identity`, mark: "refused" };
  return { says: `${named(provider)} gave no clear answer: ${text(member(finding, "why"))}` };
}

function named(provider: Cast): string {
  return `the ${provider}`;
}

function confirmation(data: JsonObject): string {
  const evidence = member(data.outcome, "evidence");
  if (member(evidence, "kind") === "row") return "confirmed: claim, row and receipt are one commit";
  return `confirmed by the answer to its own request (status ${text(member(member(evidence, "data"), "status"))})`;
}

/** A request as the provider saw it: what makes it recognizable is what matters. */
export function requestBeat(cast: Cast, request: SeenRequest): RankedBeat {
  const { at, method, path, version, operation } = request;
  const names = [
    version === null ? undefined : `If-Match ${version}`,
    operation === null || method === "GET" ? undefined : `for ${short(operation)}`,
  ].filter((each) => each !== undefined);
  const says = [`${method} ${path}`, ...names].join(" · ");
  return { at, from: "Writ", to: cast, says, rank: RANK.sent };
}

export function effectBeat(cast: Cast, { at, kind, resource, value, version }: Effect): RankedBeat {
  const says =
    kind === "item"
      ? `applied: ${text(value.available)} available, version ${version}`
      : `applied: ${resource}, ${text(value.quantity)} × ${text(value.item)}`;
  return { at, from: cast, says, mark: "effect", rank: RANK.done };
}

/** What the agent is told, in Writ's own sentences. */
export function answerSays(operation: OperationAnswer): Omit<Beat, "at"> {
  const { state, how, meaning, next } = operation;
  const says =
    how === "replayed"
      ? `the same operation, ${state}. ${next}`
      : state === "succeeded"
        ? `${state}. ${meaning}`
        : `${state}. ${meaning} ${next}`;
  const mark = state === "succeeded" || state === "unknown" ? { mark: state } : {};
  return { from: "Writ", to: "agent", says, ...mark };
}

export function refusalSays(error: unknown): Omit<Beat, "at"> {
  if (error instanceof Refused) {
    const { code, detail, status, currentVersion } = error.problem;
    const current = currentVersion === undefined ? "" : ` Version ${currentVersion} stands there.`;
    return { from: "Writ", to: "agent", says: `${status} ${code}: ${detail}${current}`, mark: "refused" };
  }
  if (error instanceof Unanswered)
    return { from: "agent", says: `hears nothing: ${error.message}`, mark: "unknown" };
  throw error;
}

/** An operation's id without what all ids of this hour have in common. */
function short(id: string): string {
  return id.length > 12 ? `op_…${id.slice(-6)}` : id;
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" && name in value
    ? (value as { readonly [key: string]: unknown })[name] // `in` has just found it.
    : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function listed(value: unknown): string {
  return Array.isArray(value) && value.length > 0 ? value.map(text).join(", ") : "policy";
}
