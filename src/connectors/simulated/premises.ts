import type { Socket } from "node:net";
import type { Switchboard } from "./faults.ts";
import type { Shop } from "./shop.ts";

/** One request as it arrived, whatever became of it. */
export interface SeenRequest {
  readonly n: number;
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The number of the connection it came on. */
  readonly connection: number;
  readonly key: string | null;
  readonly version: string | null;
  operation: string | null;
  /** Its whole text, once it was here. */
  body: string | null;
}

/** All that one server knows. */
export interface Premises {
  readonly shop: Shop;
  readonly faults: Switchboard;
  readonly seen: SeenRequest[];
  readonly connections: Map<Socket, number>;
  readonly clock: { aheadMs: number };
  /** Work that is done after its answer; dropped when the server closes. */
  readonly later: (ms: number, work: () => void) => void;
}
