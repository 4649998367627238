import type { Outcome } from "../core/attempt.ts";
import type { Contract, Lookup, ReadRule } from "../core/contract.ts";
import { type Json, pointed } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import { Problem } from "../core/problem.ts";
import type { Connector, ConnectorFinding, Errand, ReadQuestion, ResourceRead } from "../service/ports.ts";
import type { Exchange, Reply } from "./exchange.ts";
import type { Clean } from "./hygiene.ts";
import type { OpenLine } from "./line.ts";
import { matches, outcomeOf, picked, type Reading, silenceOf, versionIn } from "./match.ts";
import { renderValue, type Subject } from "./variable.ts";

/** A connector whose every word is its contract's. */
export interface ContractConnector extends Connector {
  poll(errand: Errand): Promise<Outcome | undefined>;
  /** The resource and its version by the contract's `read`; for a proposal, before there is an operation. */
  read(question: ReadQuestion): Promise<ResourceRead>;
  /** Ends the connections that are kept open. */
  close(): Promise<void>;
}

/** One provider as this file needs it, whatever its transport. */
export interface Counterpart {
  readonly kind: string;
  readonly line: OpenLine;
  /** What every message of this provider may speak of. */
  readonly fixed: Pick<Subject, "base" | "writ" | "secrets">;
  readonly clean: Clean;
  /** Whether a silence in this phase proves that nothing can happen any more. */
  readonly proves: (phase: string) => boolean;
}

/**
 * The one way from an errand to what was learned: a message of the contract is written from the stored action, sent once, and its answer
 * read by the contract's rules. The same for every transport.
 */
export function contractConnector(line: Counterpart): ContractConnector {
  return {
    kind: line.kind,
    perform: (errand) => perform(line, errand),
    lookUp: (errand, name) => lookUp(line, errand, name),
    bar: (errand) => bar(line, errand),
    poll: (errand) => poll(line, errand),
    read: (question) => read(line, question),
    current: async ({ tool: { contract }, resource, ...question }) => {
      const got = await read(line, { ...question, contract, resourceId: resource.id });
      return got.kind === "read" ? { version: got.version, value: got.value } : undefined;
    },
    close: () => line.line.close(),
  };
}

async function perform(line: Counterpart, errand: Errand): Promise<Outcome> {
  const { contract, gate } = errand;
  if (contract.request === undefined)
    return { kind: "refused", reason: "provider_refused", detail: "the contract has no request" };
  // An idle connection that the provider is just closing would lose an answer for nothing; only where a repeat is safe is that worth the speed.
  const fresh = contract.identity.kind === "none";
  const got = await ask(line, contract.request, {
    gate,
    fresh,
    ...remembrance(contract),
    ...(errand.pauseMs === undefined ? {} : { pauseMs: errand.pauseMs }),
    ...subjectAndLife(line, errand),
  });
  switch (got.kind) {
    case "unwritable":
      // The same action would give the same "no" for ever, and not a byte of it was sent.
      return {
        kind: "refused",
        reason: "provider_refused",
        detail: line.clean(`the request cannot be written: ${got.why}`),
      };
    case "unsent":
      return { kind: "absent", why: line.clean(got.why) };
    case "silent":
      return silenceOf(contract, got, { clean: line.clean, proves: line.proves });
    case "answered":
      return outcomeOf(contract, got.reply, errand.attempt, readingOf(line, errand));
  }
}

/** Only a window that ends in another execution is dangerous when it is shorter than it was said to be. */
function remembrance({ identity }: Contract): Pick<Asking, "remembersMs"> {
  if (identity.kind === "none" || identity.window.after === "refuses") return {};
  const { forMs } = identity.window;
  return forMs === null ? {} : { remembersMs: forMs };
}

async function lookUp(line: Counterpart, errand: Errand, name: string): Promise<ConnectorFinding> {
  const lookup = errand.contract.lookup.find((candidate) => candidate.name === name);
  if (lookup === undefined) return { kind: "unclear", why: `the contract has no lookup "${name}"` };
  const got = await ask(line, lookup.request, {
    ...subjectAndLife(line, errand),
    gate: always,
    fresh: false,
  });
  // Not to get an answer is not to get a "nothing there".
  return got.kind === "answered"
    ? findingOf(lookup, got.reply, errand, readingOf(line, errand))
    : { kind: "unclear", why: line.clean(whyOf(got)) };
}

function findingOf(lookup: Lookup, reply: Reply, errand: Errand, reading: Reading): ConnectorFinding {
  const { absent, barrier, digestAt, receipt = {} } = lookup;
  if (barrier !== undefined && matches(barrier, reply, reading)) return { kind: "absent", sawBarrier: true };
  const shown = foundIn(lookup, reply, reading);
  if (shown === undefined) {
    const searched = lookup.each === undefined || Array.isArray(pointed(reply.body, lookup.each));
    if (searched && matches(absent, reply, reading)) return { kind: "absent" };
    return {
      kind: "unclear",
      why: `"${lookup.name}" answered ${reply.status}, which the contract does not know`,
    };
  }
  const { kept, lacks } = picked(
    digestAt === undefined ? receipt : { ...receipt, digest: digestAt },
    shown,
    reading.clean,
  );
  if (lacks !== undefined)
    return { kind: "unclear", why: `"${lookup.name}" found something without its "${lacks}"` };
  const evidence = { kind: "lookup" as const, data: { lookup: lookup.name, status: reply.status, ...kept } };
  const wanted = lookup.digestIs === undefined ? errand.digest : reading.bind(lookup.digestIs);
  return digestAt !== undefined && kept.digest !== wanted
    ? { kind: "conflict", evidence }
    : { kind: "confirmed", evidence };
}

/** The answer, or the item of its list, that shows our operation. */
function foundIn({ each, found }: Lookup, reply: Reply, reading: Reading): Reply | undefined {
  if (each === undefined) return matches(found, reply, reading) ? reply : undefined;
  const list = pointed(reply.body, each);
  if (!Array.isArray(list)) return undefined;
  return (list as readonly Json[]) // Array.isArray forgets what a JSON array holds.
    .map((body) => ({ ...reply, body }))
    .find((item) => matches(found, item, reading));
}

async function bar(
  line: Counterpart,
  errand: Errand,
): Promise<{ readonly raised: boolean; readonly why: string }> {
  const { barrier } = errand.contract;
  if (barrier.kind === "none") return { raised: false, why: "the contract has no barrier" };
  const got = await ask(line, barrier.request, {
    ...subjectAndLife(line, errand),
    gate: always,
    fresh: true,
  });
  if (got.kind !== "answered") return { raised: false, why: line.clean(whyOf(got)) };
  const raised = matches(barrier.raised, got.reply, readingOf(line, errand));
  return { raised, why: `the provider answered ${got.reply.status}` };
}

async function poll(line: Counterpart, errand: Errand): Promise<Outcome | undefined> {
  const { completion } = errand.contract;
  if (completion === undefined) return undefined;
  const got = await ask(line, completion.request, {
    ...subjectAndLife(line, errand),
    gate: always,
    fresh: false,
  });
  if (got.kind !== "answered") return undefined;
  const reading = readingOf(line, errand);
  const { status } = got.reply;
  if (matches(completion.refused, got.reply, reading))
    return { kind: "refused", reason: "provider_refused", detail: `the provider finished it with ${status}` };
  if (!matches(completion.done, got.reply, reading)) return undefined;
  const { kept, lacks } = picked(completion.receipt ?? {}, got.reply, reading.clean);
  return lacks === undefined
    ? { kind: "confirmed", evidence: { kind: "lookup", data: { completion: true, status, ...kept } } }
    : undefined;
}

async function read(
  line: Counterpart,
  { contract, signal, tenantId, resourceId, arguments: args }: ReadQuestion,
): Promise<ResourceRead> {
  const rule: ReadRule | undefined = contract.read;
  if (rule === undefined) return { kind: "unclear", why: "the contract does not say how to read" };
  const subject: Subject = { ...line.fixed, tenantId, resourceId, arguments: args, vars: {} };
  const got = await ask(line, rule.request, {
    subject,
    signal,
    lifeMs: contract.requestLifeMs,
    gate: always,
    fresh: false,
  });
  if (got.kind !== "answered") return { kind: "unclear", why: line.clean(whyOf(got)) };
  const { status } = got.reply;
  if (status === 404 || status === 410) return { kind: "absent" };
  if (status !== 200) return { kind: "unclear", why: `the provider answered ${status}` };
  const version = versionIn(contract, got.reply);
  if (version !== undefined) return { kind: "read", version, value: got.reply.body ?? null };
  return {
    kind: "unclear",
    why: "the provider showed no version that a write could name (a strong one, where the contract says so)",
  };
}

interface Asking {
  readonly subject: Subject;
  readonly signal: AbortSignal;
  readonly lifeMs: number;
  readonly gate: () => boolean;
  /** On a connection of its own, closed with the answer. */
  readonly fresh: boolean;
  readonly remembersMs?: number;
  readonly pauseMs?: number;
}

function ask(
  { line }: Counterpart,
  message: Message,
  { subject, ...asking }: Asking,
): Promise<Exchange | { readonly kind: "unwritable"; readonly why: string }> {
  return line.ask(message, subject, asking);
}

function whyOf(got: Exclude<Awaited<ReturnType<typeof ask>>, { readonly kind: "answered" }>): string {
  return got.kind === "silent" ? got.cause : got.why;
}

function always(): boolean {
  return true;
}

function subjectOf(
  line: Counterpart,
  { action, contract, digest, authorizedAt, firstSentAt }: Errand,
): Subject {
  return {
    tenantId: action.tenantId,
    resourceId: action.resource.id,
    arguments: action.arguments,
    operation: { id: action.operationId, digest, authorizedAt, firstSentAt },
    vars: contract.vars ?? {},
    ...(action.expectedVersion === undefined ? {} : { expectedVersion: action.expectedVersion }),
    ...line.fixed,
  };
}

function subjectAndLife(line: Counterpart, errand: Errand): Pick<Asking, "subject" | "signal" | "lifeMs"> {
  return { subject: subjectOf(line, errand), signal: errand.signal, lifeMs: errand.contract.requestLifeMs };
}

function readingOf(line: Counterpart, errand: Errand): Reading {
  // Expected texts never hold a secret: what a provider answers is kept.
  const subject = { ...subjectOf(line, errand), secrets: {} };
  const bind = (expected: Json): Json | undefined => {
    try {
      return renderValue(expected, subject);
    } catch (problem) {
      if (problem instanceof Problem) return undefined;
      throw problem;
    }
  };
  return { bind, clean: line.clean };
}
