import { type ClientConfig, types } from "pg";

/** What every connection of one database is opened with. */
export interface Session {
  readonly client: ClientConfig;
  /** host:port/database, for messages; never a password. */
  readonly place: string;
  readonly answerDeadlineMs: number;
  readonly connectDeadlineMs: number;
  readonly onNotice: (notice: Notice) => void;
}

/** A warning that the server sent beside its answers. */
export interface Notice {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
}

export interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly statementTimeoutMs: number;
  readonly answerDeadlineMs: number;
  readonly onNotice: (notice: Notice) => void;
}

// A lock that is not had in 5 s is contention to report, not to wait out. Below the statement timeout, or that
// one would come first, and a conflict that passes would look like a statement that is too slow.
const LOCK_TIMEOUT_MS = 5_000;
// A transaction that stands still for 15 s belongs to a process that stands still: its locks go back.
const IDLE_IN_TRANSACTION_MS = 15_000;
// Long enough for a server that restarts, short enough for the caller who waits.
const CONNECT_DEADLINE_MS = 5_000;

/**
 * Settings travel in the startup packet, so a connection has them from its first statement. Read only is the
 * default and each of our transactions says `read write`: should its `begin` be refused, the statements behind
 * it on the wire find no transaction, and must then not write one by one.
 */
const SETTINGS = [
  "default_transaction_read_only=on",
  "timezone=UTC",
  "datestyle=ISO",
  // The warning that a commit was not replicated must reach us whatever the role's setting is.
  "client_min_messages=warning",
  // A statement is planned once, perhaps while its table is still empty, and kept: it must not keep a plan that reads
  // whole tables. Ours touch a few rows by key, whatever the statistics say.
  "enable_seqscan=off",
  "enable_hashjoin=off",
  "enable_mergejoin=off",
  "jit=off",
];

export function sessionOf(options: SessionOptions): Session {
  const { url, startup } = withoutStartup(options.url);
  return {
    client: {
      connectionString: url,
      pipeline: true,
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs,
      lock_timeout: Math.min(LOCK_TIMEOUT_MS, Math.ceil(options.statementTimeoutMs / 2)),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      options: [startup, ...SETTINGS.map((setting) => `-c ${setting}`)].join(" ").trim(),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: CONNECT_DEADLINE_MS,
      types: { getTypeParser },
    },
    place: placeOf(options.url),
    answerDeadlineMs: options.answerDeadlineMs,
    connectDeadlineMs: CONNECT_DEADLINE_MS,
    onNotice: options.onNotice,
  };
}

/** `options` in the URL would replace ours; both are wanted, ours last. */
function withoutStartup(url: string): { readonly url: string; readonly startup: string } {
  if (!URL.canParse(url)) return { url, startup: "" };
  const parsed = new URL(url);
  const startup = parsed.searchParams.get("options");
  if (startup === null) return { url, startup: "" };
  parsed.searchParams.delete("options");
  return { url: parsed.href, startup };
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return "the database";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

const INT8: number = 20;
const INT8_ARRAY: number = 1016;
const DATE_AND_TIME = new Set([1082, 1083, 1114, 1115, 1182, 1184, 1185, 1266]);

type Parser = (text: string) => unknown;

/**
 * int8 becomes a number where that is exact and is an error where it is not; dates and times stay the text that
 * the SQL gave; the rest is what the driver makes of it (json parsed, numeric as text, bytea as Buffer).
 */
function getTypeParser(oid: number, format?: "text" | "binary"): Parser {
  if (format === "binary") return types.getTypeParser(oid, "binary");
  if (oid === INT8) return exactNumber;
  if (oid === INT8_ARRAY) return (text) => exactNumbers(types.getTypeParser(oid, "text")(text));
  if (DATE_AND_TIME.has(oid)) return (text) => text;
  return types.getTypeParser(oid, "text");
}

function exactNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number))
    throw new RangeError(`bigint ${text} is not exact as a number; select it as text`);
  return number;
}

/** The driver gives an int8[] as texts, nested as deep as the array is. */
function exactNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exactNumbers);
  return value === null ? null : exactNumber(String(value));
}
