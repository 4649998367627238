import type { Connector } from "../../src/service/ports.ts";

/** A connector whose requests wait until the test lets them go. */
export interface Held {
  readonly through: (connector: Connector) => Connector;
  /** Resolves when a request has arrived here. */
  arrived(): Promise<void>;
  letGo(): void;
}

export function held(): Held {
  const gate = withResolvers();
  const first = withResolvers();
  return {
    through: (connector) => ({
      ...connector,
      perform: async (errand) => {
        first.resolve();
        await gate.promise;
        return connector.perform(errand);
      },
    }),
    arrived: () => first.promise,
    letGo: gate.resolve,
  };
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A connector that sends, and whose every answer is lost. */
export function deaf(connector: Connector): Connector {
  return {
    ...connector,
    perform: async (errand) => {
      await connector.perform(errand);
      return { kind: "lost", cause: "no answer" };
    },
  };
}

/** A connector that sends nothing, and cannot say so. */
export function mute(connector: Connector): Connector {
  return { ...connector, perform: async () => ({ kind: "lost", cause: "no answer" }) };
}
