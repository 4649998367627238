import type { JsonObject } from "../../src/core/json.ts";
import type { Operation } from "../../src/core/operation.ts";
import type { Tool } from "../../src/core/tool.ts";
import type { Connector } from "../../src/service/ports.ts";
import type { RealServer, Stoppable } from "../servers/server.ts";
import { type Address, CUT_POINTS, type Speech } from "./cutting-proxy.ts";

/** What can happen to one write: nothing, a cut wire, or a cut wire and somebody else who writes the very same. */
export const CASES = [
  "direct",
  ...CUT_POINTS,
  "before send, then another writes the same",
  "after effect, then another writes the same",
] as const;
export type Case = (typeof CASES)[number];

/** How an operation ends, as its contract says, and how many effects of it the server shows. */
export interface Ending {
  readonly state: "succeeded" | "rejected" | "unknown";
  readonly effects: number;
  /** It stands in a person's queue. */
  readonly person: boolean;
}

export const DONE: Ending = { state: "succeeded", effects: 1, person: false };
export const REFUSED: Ending = { state: "rejected", effects: 0, person: false };
/** Nobody knows by asking; the effect is there, or is not. */
export const DOUBT = {
  withEffect: { state: "unknown", effects: 1, person: true },
  withoutEffect: { state: "unknown", effects: 0, person: true },
} as const satisfies Readonly<Record<string, Ending>>;

/**
 * One connector with one contract on one server: all that the suite has to be told. Whatever stands in `effects`, `prepare` and `rival`
 * speaks to the server by a client of its own, never by the connector and never by our ledger.
 */
export interface Subject<Running extends Stoppable = Stoppable> {
  /** What is done, such as "transaction with a marker". */
  readonly name: string;
  readonly server: RealServer<Running>;
  /** The tool, but for what every tool of the suite is alike in. Its resource is "{item}" unless it says otherwise. */
  readonly tool: Partial<Tool> & Pick<Tool, "contract" | "expectedVersion">;
  readonly address: (running: Running) => Address;
  /** The connector under test, to the server or to the proxy before it. */
  readonly connect: (running: Running, at: Address) => Connector | Promise<Connector>;
  readonly speech: Speech;
  /** Makes the resource if the write needs one, and gives the arguments and the version of one write. */
  readonly prepare: (
    running: Running,
    item: string,
  ) => Promise<{ readonly arguments: JsonObject; readonly version?: string }>;
  /** How many effects of this operation the server shows. */
  readonly effects: (running: Running, of: Watched) => Promise<number>;
  /** Another writer sets what the write would set, and nothing of ours. Absent where there is no value to set. */
  readonly rival?: (running: Running, item: string, args: JsonObject) => Promise<void>;
  readonly ends: Readonly<Partial<Record<Case, Ending>>>;
}

/** An operation as somebody who looks at the server needs it. */
export interface Watched {
  readonly item: string;
  readonly arguments: JsonObject;
  readonly operationId: Operation["id"];
  readonly digest: string;
}
