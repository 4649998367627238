import { Client, Pool } from "undici";
import type { Outcome } from "../core/attempt.ts";
import type { Contract, Lookup, ReadRule, RequestTemplate } from "../core/contract.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import type { Connector, ConnectorFinding, Errand } from "../service/ports.ts";
import { guardedConnector } from "./http/egress.ts";
import { type Exchange, exchange } from "./http/exchange.ts";
import { baseOf, credentialHeader, type HttpSettings, secretsOf } from "./http/settings.ts";
import { type Clean, cleaner } from "./hygiene.ts";
import { matches, outcomeOf, picked, type Reading, type Reply, versionIn } from "./match.ts";
import { renderRequest, type Subject } from "./template.ts";
import { renderValue } from "./variable.ts";

export { type HttpSettings, settingsDigestValue } from "./http/settings.ts";

/** What a resource looks like now, or why no version of it can be trusted. */
type HttpRead =
  | { readonly kind: "read"; readonly version: string; readonly value: Json | null }
  | { readonly kind: "absent" }
  | { readonly kind: "unclear"; readonly why: string };

export interface ReadQuestion {
  readonly tenantId: string;
  readonly resourceId: string;
  readonly arguments: JsonObject;
  readonly contract: Contract;
  readonly signal: AbortSignal;
}

export interface HttpConnector extends Connector {
  readonly kind: "http";
  poll(errand: Errand): Promise<Outcome | undefined>;
  /** The resource and its version by the contract's `read`; for a proposal, before there is an operation. */
  read(question: ReadQuestion): Promise<HttpRead>;
  /** Ends the connections that are kept open. */
  close(): Promise<void>;
}

const ANSWER_MAX_BYTES = 1024 * 1024;
const CONNECT_MS = 10_000;
const CONNECTIONS_MAX = 8;

/** One provider, ready to be asked. */
interface Line {
  readonly settings: HttpSettings;
  readonly base: string;
  readonly auth: readonly (readonly [string, string])[];
  readonly clean: Clean;
  readonly kept: Pool;
  readonly fresh: () => Client;
}

/** The connector of one HTTP provider. Throws `invalid` for settings that name no safe place or credential. */
export function httpConnector(settings: HttpSettings): HttpConnector {
  const line = lineOf(settings);
  return {
    kind: "http",
    perform: (errand) => perform(line, errand),
    lookUp: (errand, name) => lookUp(line, errand, name),
    bar: (errand) => bar(line, errand),
    poll: (errand) => poll(line, errand),
    read: (question) => read(line, question),
    current: async ({ tool: { contract }, resource, ...question }) => {
      const got = await read(line, { ...question, contract, resourceId: resource.id });
      return got.kind === "read" ? { version: got.version, value: got.value } : undefined;
    },
    close: () => line.kept.destroy(),
  };
}

function lineOf(settings: HttpSettings): Line {
  const base = baseOf(settings);
  const { origin } = new URL(base);
  const connect = guardedConnector(settings, settings.connectMs ?? CONNECT_MS, settings.ca);
  // One request at a time on a connection: a second behind it would share its fate.
  const common = { connect, pipelining: 1, allowH2: false };
  return {
    settings,
    base,
    auth: settings.auth === undefined ? [] : [credentialHeader(settings.auth)],
    clean: cleaner(secretsOf(settings)),
    kept: new Pool(origin, { ...common, connections: settings.connectionsMax ?? CONNECTIONS_MAX }),
    fresh: () => new Client(origin, common),
  };
}

async function perform(line: Line, errand: Errand): Promise<Outcome> {
  const { contract, gate } = errand;
  if (contract.request === undefined)
    return { kind: "refused", reason: "provider_refused", detail: "the contract has no request" };
  // An idle connection that the provider is just closing would lose an answer for nothing; only where a repeat is safe is that worth the speed.
  const fresh = contract.identity.kind === "none";
  const got = await ask(line, contract.request, { gate, fresh, ...subjectAndLife(line, errand) });
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
      return {
        kind: "lost",
        cause: line.clean(got.cause),
        ...(got.status === undefined ? {} : { seen: { status: got.status } }),
      };
    case "answered":
      return outcomeOf(contract, got.reply, errand.attempt, readingOf(line, errand));
  }
}

async function lookUp(line: Line, errand: Errand, name: string): Promise<ConnectorFinding> {
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
  const { found, absent, barrier, digestAt, receipt = {} } = lookup;
  if (barrier !== undefined && matches(barrier, reply, reading)) return { kind: "absent", sawBarrier: true };
  if (!matches(found, reply, reading)) {
    if (matches(absent, reply, reading)) return { kind: "absent" };
    return {
      kind: "unclear",
      why: `"${lookup.name}" answered ${reply.status}, which the contract does not know`,
    };
  }
  const { kept, lacks } = picked(
    digestAt === undefined ? receipt : { ...receipt, digest: digestAt },
    reply,
    reading.clean,
  );
  if (lacks !== undefined)
    return { kind: "unclear", why: `"${lookup.name}" found something without its "${lacks}"` };
  const evidence = { kind: "lookup" as const, data: { lookup: lookup.name, status: reply.status, ...kept } };
  return digestAt !== undefined && kept.digest !== errand.digest
    ? { kind: "conflict", evidence }
    : { kind: "confirmed", evidence };
}

async function bar(line: Line, errand: Errand): Promise<{ readonly raised: boolean; readonly why: string }> {
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

async function poll(line: Line, errand: Errand): Promise<Outcome | undefined> {
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
  line: Line,
  { contract, signal, tenantId, resourceId, arguments: args }: ReadQuestion,
): Promise<HttpRead> {
  const rule: ReadRule | undefined = contract.read;
  if (rule === undefined) return { kind: "unclear", why: "the contract does not say how to read" };
  const subject: Subject = { ...fixed(line), tenantId, resourceId, arguments: args, vars: {} };
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
}

async function ask(
  line: Line,
  template: RequestTemplate,
  asking: Asking,
): Promise<Exchange | { readonly kind: "unwritable"; readonly why: string }> {
  const written = write(line, template, asking.subject);
  if (typeof written === "string") return { kind: "unwritable", why: written };
  const { signal, lifeMs, gate, fresh } = asking;
  const answerMaxBytes = line.settings.answerMaxBytes ?? ANSWER_MAX_BYTES;
  const dispatcher = fresh ? line.fresh() : line.kept;
  const got = await exchange(dispatcher, {
    request: written,
    headers: line.auth,
    signal,
    lifeMs,
    gate,
    answerMaxBytes,
    close: fresh,
  });
  if (fresh) await dispatcher.destroy();
  return got;
}

/** The request, or why it can never be written. */
function write(
  line: Line,
  template: RequestTemplate,
  subject: Subject,
): ReturnType<typeof renderRequest> | string {
  try {
    const request = renderRequest(template, subject);
    const twice = request.headers.find(([name]) => line.auth.some(([ours]) => ours === name));
    return twice === undefined ? request : `the contract and the provider's settings both write ${twice[0]}`;
  } catch (problem) {
    if (problem instanceof Problem) return problem.message;
    throw problem;
  }
}

function whyOf(got: Exclude<Awaited<ReturnType<typeof ask>>, { readonly kind: "answered" }>): string {
  return got.kind === "silent" ? got.cause : got.why;
}

function always(): boolean {
  return true;
}

function fixed({ base, settings }: Line): Pick<Subject, "base" | "writ" | "secrets"> {
  return { base, writ: settings.writ ?? {}, secrets: settings.secrets ?? {} };
}

function subjectOf(line: Line, { action, contract, digest, authorizedAt }: Errand): Subject {
  return {
    tenantId: action.tenantId,
    resourceId: action.resource.id,
    arguments: action.arguments,
    operation: { id: action.operationId, digest, authorizedAt },
    vars: contract.vars ?? {},
    ...(action.expectedVersion === undefined ? {} : { expectedVersion: action.expectedVersion }),
    ...fixed(line),
  };
}

function subjectAndLife(line: Line, errand: Errand): Pick<Asking, "subject" | "signal" | "lifeMs"> {
  return { subject: subjectOf(line, errand), signal: errand.signal, lifeMs: errand.contract.requestLifeMs };
}

function readingOf(line: Line, errand: Errand): Reading {
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
