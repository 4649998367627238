import { thawAction } from "./action.ts";
import { inert } from "./display.ts";
import type { Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Operation } from "./operation.ts";
import { timeText } from "./outlook.ts";
import type { Requirement } from "./policy.ts";
import type { Approval } from "./review.ts";
import { type Session, serviceName } from "./session.ts";

/** The same in plain words and as data. */
export interface Part {
  readonly lines: readonly string[];
  readonly data: JsonObject;
}

/** Who asked, which rules spoke, whom they asked and why, and what each person said. */
export function authorizedBy(operation: Operation, clock: Instant): Part {
  const { authorization, principalId, clientId, review, state } = operation;
  const chain = thawAction(operation.action).delegation;
  const links = chain as unknown as Session["delegation"]; // Written by chainOf.
  const through =
    links.length === 0
      ? ""
      : `, through ${links.length} ${links.length === 1 ? "delegation" : "delegations"}`;
  const whose = serviceName(operation) === undefined ? `on behalf of ${principalId}` : "for itself";
  const asked = [`${clientId} asked for it ${whose}${through}.`, ...links.map(givenLine)];
  const people = peopleLines(operation);
  const common = {
    principal: principalId,
    client: clientId,
    delegation: chain,
    ...(review === undefined ? {} : { review: reviewData(operation) }),
  };
  // While people are asked again, what was permitted before permits nothing.
  if (authorization === undefined || state === "proposed")
    return { lines: [...asked, ...people, unauthorized(operation)], data: common };
  const { policyVersion, policies, authorizedAt, expiresAt, approvals, obligations } = authorization;
  const ended = clock >= expiresAt ? "ended" : "ends";
  return {
    lines: [
      ...asked,
      ...people,
      `${policies.length === 0 ? "Policy" : policies.join(", ")} permitted it at ${timeText(authorizedAt)}, under policy version ${policyVersion}.`,
      ...(approvals.length === 0 ? ["No person had to approve it."] : approvals.map(approvedLine)),
      `The permission covers exactly ${authorization.digest} and ${ended} at ${timeText(expiresAt)}.`,
    ],
    data: {
      ...common,
      policyVersion,
      policies,
      approvals,
      obligations,
      authorizedAt: timeText(authorizedAt),
      expiresAt: timeText(expiresAt),
    },
  };
}

function givenLine({ id, delegator, holder }: Session["delegation"][number]): string {
  return `${delegator} gave ${holder} a part of what it held (${id}).`;
}

function unauthorized({ state, reason }: Operation): string {
  if (state === "proposed") return "Nobody has authorized it yet: it waits for people.";
  return `Nobody authorized it${reason === undefined ? "" : ` (${reason})`}.`;
}

function peopleLines({ review, authorization, state }: Operation): readonly string[] {
  if (review === undefined) return [];
  const counted = state === "proposed" ? [] : (authorization?.approvals ?? []);
  const told = new Set(counted.map(({ person, at }) => `${String(person)} ${String(at)}`));
  return [
    ...review.requirements.map(requirementLine),
    ...review.approvals.filter(({ person, at }) => !told.has(`${person} ${at}`)).map(saidLine),
  ];
}

function requirementLine({ policy, role, quorum, by, reason }: Requirement): string {
  const who =
    by === "principal"
      ? "the principal to confirm it"
      : `${quorum === 1 ? "a person" : `${quorum} people`} with the role ${role}`;
  return `${policy} asks ${who}: ${inert(reason)}.`;
}

function saidLine({ person, decision, at, comment, withdrawnAt }: Approval): string {
  const word = decision === "approve" ? "yes" : "no";
  const why = comment === undefined ? "" : `, saying “${inert(comment)}”`;
  const back = withdrawnAt === undefined ? "" : `, and took it back at ${timeText(withdrawnAt)}`;
  return `${person} said ${word} at ${timeText(at)}${why}${back}.`;
}

/** Written by approvalsOf. */
function approvedLine({ person, policy, role, at, until, comment, signed }: JsonObject): string {
  const how = signed === undefined ? "" : ", signed by their own passkey";
  const why = typeof comment === "string" ? `, saying “${inert(comment)}”` : "";
  const counts = `counting until ${timeText(Number(until))}`;
  return `${String(person)} approved it at ${timeText(Number(at))} for ${String(policy)} (${String(role)})${how}${why}, ${counts}.`;
}

function reviewData({ review }: Operation): JsonObject {
  const said = review?.approvals.map(({ person, client, decision, at, comment, withdrawnAt }) => ({
    person,
    client,
    decision,
    at: timeText(at),
    ...(comment === undefined ? {} : { comment }),
    ...(withdrawnAt === undefined ? {} : { withdrawnAt: timeText(withdrawnAt) }),
  }));
  // Requirements are plain JSON; the interface only names their members.
  return { requirements: (review?.requirements ?? []) as unknown as JsonObject[], said: said ?? [] };
}
