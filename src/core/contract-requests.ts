import type { Contract } from "./contract.ts";
import type { Message } from "./message.ts";

/** Every request of a contract, with where it is written. */
export function requestsOf(
  contract: Contract,
): readonly { readonly at: string; readonly request: Message }[] {
  const { request, barrier, completion, read } = contract;
  return [
    ...(request === undefined ? [] : [{ at: "/request", request }]),
    ...contract.lookup.map((lookup, index) => ({ at: `/lookup/${index}/request`, request: lookup.request })),
    ...(barrier.kind === "none" ? [] : [{ at: "/barrier/request", request: barrier.request }]),
    ...(completion === undefined ? [] : [{ at: "/completion/request", request: completion.request }]),
    ...(read === undefined ? [] : [{ at: "/read/request", request: read.request }]),
  ];
}
