/** What was opened on the way, closed in the opposite order: at the end, or when somebody asks for the end. */
export interface Ends {
  /** Resolves when somebody asks for the end: Ctrl-C, a terminal that closes, or a supervisor. */
  readonly signalled: Promise<"signalled">;
  asked(): boolean;
  /** From the moment that it is being opened it will be closed, also when the end comes meanwhile. */
  opened<Thing>(thing: Thing | Promise<Thing>, close: (thing: Thing) => Promise<unknown>): Promise<Thing>;
  close(): Promise<void>;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function ends(): Ends {
  const closers: (() => Promise<unknown>)[] = [];
  let tell: (word: "signalled") => void = () => undefined;
  const signalled = new Promise<"signalled">((resolve) => {
    tell = resolve;
  });
  let asked = 0;
  const heard = (signal: NodeJS.Signals): void => {
    asked += 1;
    // Who asks twice does not want to wait; what is in the ledger stands there anyway.
    if (asked > 1) process.exit(128 + (signal === "SIGTERM" ? 15 : signal === "SIGHUP" ? 1 : 2));
    tell("signalled");
  };
  for (const signal of SIGNALS) process.on(signal, heard);
  return {
    signalled,
    asked: () => asked > 0,
    opened: async (thing, close) => {
      const opening = Promise.resolve(thing);
      closers.unshift(() => opening.then(close, () => undefined));
      return opening;
    },
    close: async () => {
      for (const close of closers.splice(0)) await close();
      for (const signal of SIGNALS) process.off(signal, heard);
    },
  };
}
