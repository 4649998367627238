import type { Contract } from "./contract.ts";
import { GIT_MESSAGE } from "./git-message.ts";
import { HTTP_MESSAGE } from "./http-message.ts";
import type { LintFinding } from "./lint-finding.ts";
import { MARKER_MESSAGE } from "./marker-message.ts";
import type { MessageForm } from "./message.ts";
import { NATS_MESSAGE, natsMistakes } from "./nats-message.ts";
import { RABBITMQ_MESSAGE, rabbitmqMistakes } from "./rabbitmq-message.ts";
import { REDIS_MESSAGE, redisMistakes } from "./redis-message.ts";
import { SMTP_MESSAGE } from "./smtp-message.ts";
import { objectOf } from "./written.ts";

/**
 * What is known of a request whose answer did not come. `nothing`: this request has no effect and can have none any more.
 * `unknown`: anything may have happened.
 */
export type PhaseProof = "nothing" | "unknown";

/** What the rules must know of one way to speak to providers. Data only: who speaks it is a connector's matter. */
export interface Transport {
  /** Where a silence can be noticed (`when: { phase: … }`), and what each proves. */
  readonly phases: Readonly<Record<string, PhaseProof>>;
  /** Whether its answers have headers. */
  readonly headers: boolean;
  /** Whether the provider's settings give a `{{base}}`. */
  readonly base: boolean;
  /** The effect is the ledger's own commit: nothing is sent. */
  readonly local: boolean;
  readonly message: MessageForm;
  /** What a contract that is spoken here says against itself, beside what any contract can. */
  readonly lint?: (contract: Contract) => readonly LintFinding[];
}

export type Transports = Readonly<Record<string, Transport>>;

/** The transport whose effect and receipt are one commit. */
export const LEDGER = "postgres-ledger";

/** Every transport that comes with Writ, by the name that contracts use. */
export const TRANSPORTS = {
  http: {
    phases: { sent: "unknown" },
    headers: true,
    base: true,
    local: false,
    message: HTTP_MESSAGE,
  },
  git: {
    phases: { pushed: "unknown" },
    headers: false,
    base: false,
    local: false,
    message: GIT_MESSAGE,
  },
  smtp: {
    // RFC 5321 4.1.1.4: until the dot the server has no letter.
    phases: { before_dot: "nothing", after_dot: "unknown" },
    headers: false,
    base: false,
    local: false,
    message: SMTP_MESSAGE,
  },
  postgres: {
    // A transaction whose COMMIT was not sent ends with its connection.
    phases: { before_commit: "nothing", at_commit: "unknown" },
    headers: false,
    base: false,
    local: false,
    message: MARKER_MESSAGE,
  },
  nats: {
    phases: { sent: "unknown" },
    headers: false,
    base: false,
    local: false,
    message: NATS_MESSAGE,
    lint: natsMistakes,
  },
  redis: {
    phases: { sent: "unknown" },
    headers: false,
    base: false,
    local: false,
    message: REDIS_MESSAGE,
    lint: redisMistakes,
  },
  rabbitmq: {
    phases: { sent: "unknown" },
    headers: false,
    base: false,
    local: false,
    message: RABBITMQ_MESSAGE,
    lint: rabbitmqMistakes,
  },
  [LEDGER]: {
    phases: {},
    headers: false,
    base: false,
    local: true,
    message: { parse: objectOf, parts: () => [] },
  },
} as const satisfies Transports;

/** The transport of that name, if anybody speaks it. */
export function transportNamed(name: string, transports: Transports = TRANSPORTS): Transport | undefined {
  return Object.hasOwn(transports, name) ? transports[name] : undefined;
}
