import type { Assurance, Requirement } from "../core/policy.ts";

/** What the annotations of one policy say. */
export interface Annotated {
  readonly id: string;
  readonly reason?: string;
  /** On a `forbid`: whom it asks instead of saying no. */
  readonly requirement?: Requirement;
}

const KNOWN = ["id", "approval", "quorum", "within", "reason", "assurance", "by"] as const;
const ABOUT_APPROVAL = ["quorum", "within", "assurance", "by"] as const;
const ID = /^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/;
const ROLE = /^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$/;
const QUORUM_MAX = 20;
const WITHIN_DEFAULT_MS = 15 * 60_000;
const WITHIN_MAX_MS = 30 * 86_400_000;

/** The annotations of a policy, or the sentence that mends them. */
export function annotated(
  effect: "permit" | "forbid",
  written: Readonly<Record<string, string>>,
): Annotated | string {
  const odd = Object.keys(written).find((name) => !(KNOWN as readonly string[]).includes(name));
  if (odd !== undefined)
    return `there is no annotation @${odd}; there are ${KNOWN.map((name) => `@${name}`).join(" ")}`;
  const { id, approval, reason } = written;
  if (id === undefined) return 'give it a name: @id("…") before it';
  if (!ID.test(id)) return `"${id}" is no name: use a letter, then letters, digits, - . : and _`;
  const lost = ABOUT_APPROVAL.find((name) => written[name] !== undefined && approval === undefined);
  if (lost !== undefined) return `@${lost} says how people approve; add @approval("role") or take it away`;
  const said = reason === undefined ? {} : { reason };
  if (approval === undefined) return { id, ...said };
  if (effect !== "forbid")
    return "@approval stands on a forbid: it is a no that people can lift; write what is reviewed as a forbid";
  if (!ROLE.test(approval)) return `@approval names a role: a letter, then letters, digits, - . : / and _`;
  const requirement = requirementOf(id, approval, written);
  return typeof requirement === "string" ? requirement : { id, ...said, requirement };
}

function requirementOf(
  id: string,
  role: string,
  written: Readonly<Record<string, string>>,
): Requirement | string {
  const { quorum = "1", within, by = "second_person", reason, assurance } = written;
  if (!/^[1-9]\d?$/.test(quorum) || Number(quorum) > QUORUM_MAX)
    return `@quorum is a number from 1 to ${QUORUM_MAX}`;
  const withinMs = within === undefined ? WITHIN_DEFAULT_MS : durationMs(within);
  if (withinMs === undefined || withinMs > WITHIN_MAX_MS)
    return '@within is a time of at most 30 days as ISO 8601 writes it, such as "PT15M"';
  if (by !== "second_person" && by !== "principal") return '@by is "principal" or "second_person"';
  if (by === "principal" && quorum !== "1") return "the principal is one person: @quorum has to be 1";
  const assured = assurance === undefined ? {} : assuranceOf(assurance);
  if (assured === undefined)
    return '@assurance is "webauthn", "acr:VALUE" or "recent:PT5M", or several with spaces between';
  return {
    policy: id,
    role,
    quorum: Number(quorum),
    withinMs,
    by,
    reason: reason ?? `${id} asks for an approval by ${role}`,
    ...(assurance === undefined ? {} : { assurance: assured }),
  };
}

function assuranceOf(text: string): Assurance | undefined {
  let assurance: Assurance = {};
  for (const word of text.split(" ")) {
    const recentMs = word.startsWith("recent:") ? durationMs(word.slice("recent:".length)) : undefined;
    if (word === "webauthn") assurance = { ...assurance, webauthn: true };
    else if (/^acr:[!-~]{1,200}$/.test(word)) assurance = { ...assurance, acr: word.slice("acr:".length) };
    else if (recentMs !== undefined) assurance = { ...assurance, maxAgeMs: recentMs };
    else return undefined;
  }
  return assurance;
}

/** ISO 8601, days to seconds, more than nothing. */
function durationMs(text: string): number | undefined {
  const found = /^P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/.exec(
    text,
  );
  if (found === null) return undefined;
  const [days, hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0));
  const ms = ((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000;
  return ms > 0 ? ms : undefined;
}
