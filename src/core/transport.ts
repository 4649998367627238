import { HTTP_MESSAGE } from "./http-message.ts";
import type { MessageForm } from "./message.ts";
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
