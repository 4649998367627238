import type { Connector } from "../../src/service/ports.ts";

/** A worker that stands still for as long as the test says: before its request leaves, or with the provider's answer in its hand. */
export interface Standstill {
  readonly through: (connector: Connector) => Connector;
  /** The next request stands still; later ones go through. */
  stop(where: "before" | "after"): void;
  /** Resolves when a request stands still. */
  stopped(): Promise<void>;
  /** Lets it go on. */
  release(): void;
}

export function standstill(): Standstill {
  let next: "before" | "after" | undefined;
  let arrived = signal();
  let gone = signal();
  return {
    stop: (where) => {
      next = where;
      arrived = signal();
      gone = signal();
    },
    stopped: () => arrived.seen,
    release: () => gone.give(),
    through: (connector) => ({
      ...connector,
      perform: async (errand) => {
        const [mine, here, onward] = [next, arrived, gone];
        next = undefined;
        if (mine === "before") here.give();
        if (mine === "before") await onward.seen;
        const outcome = await connector.perform(errand);
        if (mine === "after") here.give();
        if (mine === "after") await onward.seen;
        return outcome;
      },
    }),
  };
}

function signal(): { readonly seen: Promise<void>; readonly give: () => void } {
  let give: () => void = () => undefined;
  const seen = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { seen, give };
}
