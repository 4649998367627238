import type { Contract, RequestTemplate } from "./contract.ts";

/** One contradiction in a contract: which rule, where in its written form, and one sentence that mends it. */
export interface LintFinding {
  readonly rule: string;
  readonly at: string;
  readonly says: string;
}

/** Every request of a contract, with where it is written. */
export function requestsOf(
  contract: Contract,
): readonly { readonly at: string; readonly request: RequestTemplate }[] {
  const { request, barrier, completion, read } = contract;
  return [
    ...(request === undefined ? [] : [{ at: "/request", request }]),
    ...contract.lookup.map((lookup, index) => ({ at: `/lookup/${index}/request`, request: lookup.request })),
    ...(barrier.kind === "none" ? [] : [{ at: "/barrier/request", request: barrier.request }]),
    ...(completion === undefined ? [] : [{ at: "/completion/request", request: completion.request }]),
    ...(read === undefined ? [] : [{ at: "/read/request", request: read.request }]),
  ];
}
