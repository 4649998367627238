import type { Operation, Reason } from "./operation.ts";

/** What each reason says to whoever asked; docs/states.md lists the same. */
export const REASONS: Readonly<Record<Reason, string>> = {
  invalid: "the stored action no longer validates",
  denied: "policy does not allow it",
  review_denied: "a person said no",
  expired: "the permission ended before it could be executed",
  revoked: "the authority behind it was withdrawn",
  precondition_failed: "the resource is no longer at the version that this change was decided against",
  not_found: "the resource does not exist",
  provider_refused: "the provider refused it",
  not_applied: "it was not applied, and can no longer be",
  cancelled: "it was cancelled before it was executed",
  superseded: "a newer proposal or definition took its place",
};

/** One sentence: what the state means. */
export function meaning(operation: Operation): string {
  switch (operation.state) {
    case "proposed":
      return "The change waits for people to decide.";
    case "authorized":
      return "The change is permitted and has not been executed yet.";
    case "executing":
      return "The change is being executed.";
    case "succeeded":
      return "The change was applied once, and its receipt is kept.";
    case "rejected":
      return `No effect of this operation exists or will appear: ${operation.reason === undefined ? "" : REASONS[operation.reason]}.`;
    case "unknown":
      return operation.attention === undefined
        ? "The change may have been applied; Writ is finding out."
        : "The change may have been applied; a person has to find out.";
  }
}

/** One sentence: what the agent should do now. */
export function advice(operation: Operation): string {
  switch (operation.state) {
    case "proposed":
      return "Wait: ask for this operation later. It runs as soon as it is approved.";
    case "authorized":
      return operation.execute === "later"
        ? "Ask for its execution before its permission ends."
        : "Ask for this operation later.";
    case "executing":
      return "Do not send it again; ask for this operation.";
    case "unknown":
      return "Do not try again; ask for this operation.";
    case "succeeded":
      return "Nothing: it is done.";
    case "rejected":
      return REJECTED_ADVICE[operation.reason ?? "denied"];
  }
}

const AGAIN = "Read the resource, decide again, and propose what is right now.";
const REJECTED_ADVICE: Readonly<Record<Reason, string>> = {
  invalid: AGAIN,
  denied: "Do not try to reach the same result another way; tell the person you work for.",
  review_denied: "Do not propose the same again; tell the person you work for.",
  expired: "Propose it again if it is still wanted.",
  revoked: "Ask the person you work for.",
  precondition_failed: AGAIN,
  not_found: AGAIN,
  provider_refused: "Read the provider's answer in the operation, and propose something that it accepts.",
  not_applied: "Propose it again with a new intent key if it is still wanted.",
  cancelled: "Propose it again if it is still wanted.",
  superseded: "Ask for the operation that took its place.",
};
