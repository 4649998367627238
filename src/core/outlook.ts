import type { Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Operation } from "./operation.ts";
import type { Plan } from "./recovery.ts";

/** What happens next to an operation that has not settled: in words, who moves it, and when. */
export interface Outlook {
  readonly lines: readonly string[];
  readonly data: JsonObject;
}

/** Who has the next move. */
type Mover = "writ" | "caller" | "person";

/** RFC 3339, in UTC. */
export function timeText(at: Instant): string {
  return new Date(at).toISOString();
}

/** Every wait has a time or a person. The plan is recovery's, where attempts have been made. */
export function outlook(operation: Operation, plan: Plan | undefined): Outlook {
  const { state, execute, expiresAt, dueAt, attempts } = operation;
  switch (state) {
    case "proposed":
      return told("person", expiresAt, [
        "People have to decide.",
        `Nobody's answer by ${timeText(expiresAt)} means no.`,
      ]);
    case "authorized":
      if (execute === "later" && attempts.length === 0)
        return told("caller", expiresAt, [
          `It waits until somebody asks for its execution, at the latest ${timeText(expiresAt)}; then its permission ends.`,
        ]);
      return told("writ", dueAt, [
        `A worker claims it${when(dueAt)}.`,
        `Its permission ends at ${timeText(expiresAt)}.`,
      ]);
    case "executing": {
      const lease = attempts.at(-1)?.leaseUntil;
      return told("writ", lease, [
        "An attempt is under way.",
        `If nothing is heard of it${lease === undefined ? "" : ` by ${timeText(lease)}`}, the outcome is unknown and the provider is asked.`,
      ]);
    }
    case "unknown":
      return doubt(operation, plan);
    case "succeeded":
    case "rejected":
      return { lines: [], data: {} };
  }
}

function doubt({ attention, dueAt }: Operation, plan: Plan | undefined): Outlook {
  switch (plan?.do) {
    case undefined:
      return attention === undefined
        ? told("writ", dueAt, [`Writ goes on finding out${when(dueAt)}.`])
        : told("person", dueAt, [`A person has to find out: ${attention}.`]);
    case "look_up":
      return told("writ", plan.at, [`Writ asks the provider ("${plan.lookup}")${when(plan.at)}.`]);
    case "poll":
      return told("writ", plan.at, [
        `The provider accepted it; Writ asks whether it has finished${when(plan.at)}.`,
      ]);
    case "repeat":
      return told("writ", plan.at, [
        `Writ sends the same request again, under the same identity${when(plan.at)}: the provider recognizes it.`,
      ]);
    case "bar":
      return told("writ", dueAt, [
        `Writ raises a barrier at the provider that makes every late attempt fail${when(dueAt)}.`,
      ]);
    case "authorize":
      return told("writ", plan.at, [`It is permitted again, and claimed${when(plan.at)}.`]);
    case "succeed":
      return told("writ", dueAt, [`What is known confirms the effect; that is recorded${when(dueAt)}.`]);
    case "reject":
      return told("writ", dueAt, [`What is known excludes an effect; that is recorded${when(dueAt)}.`]);
    case "person":
      return told("person", plan.lookAgainAt, [
        `A person has to find out: ${plan.why}.`,
        ...(plan.lookAgainAt === undefined
          ? []
          : [`Writ goes on asking, slowly; next${when(plan.lookAgainAt)}.`]),
      ]);
  }
}

function when(at: Instant | undefined): string {
  return at === undefined ? "" : ` at ${timeText(at)}`;
}

function told(by: Mover, at: Instant | undefined, lines: readonly string[]): Outlook {
  return { lines, data: at === undefined ? { by } : { by, at: timeText(at) } };
}
