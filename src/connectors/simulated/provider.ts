import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type FaultKind, type FaultSetting, switchboard } from "./faults.ts";
import type { Guarantees } from "./guarantees.ts";
import { type Effect, openJournal } from "./journal.ts";
import type { Premises, SeenRequest } from "./premises.ts";
import { serve } from "./reception.ts";
import { effectsOf, type Item, openShop, setItem } from "./shop.ts";

/** A provider to try things on: a real HTTP server with exactly the guarantees it was given, and faults at will. */
export interface Simulated {
  readonly url: string;
  readonly port: number;
  /** Every effect, in order: the only accepted count. */
  journal(): readonly Effect[];
  effectsOf(operationId: string): readonly Effect[];
  fault(kind: FaultKind, setting?: FaultSetting): void;
  clearFaults(): void;
  setItem(resource: string, available: number): Item;
  writeAsSomebodyElse(resource: string, available: number): Item;
  requests(): readonly SeenRequest[];
  /** How many connections were ever opened to it. */
  connections(): number;
  /** Moves its clock: keys age and lags pass. */
  advance(ms: number): void;
  close(): Promise<void>;
}

export interface SimulatedOptions {
  readonly guarantees: Guarantees;
  /** A free one if not said. */
  readonly port?: number;
  /** Keeps the journal in a file, synced before each answer: the process may be killed and started again. */
  readonly journalPath?: string;
}

/** Listens on the loopback interface only. */
export async function startSimulated({
  guarantees,
  port = 0,
  journalPath,
}: SimulatedOptions): Promise<Simulated> {
  const clock = { aheadMs: 0 };
  const journal = openJournal(journalPath);
  const shop = openShop(guarantees, journal, () => Date.now() + clock.aheadMs);
  const timers = new Set<NodeJS.Timeout>();
  const later = (ms: number, work: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, ms);
    timers.add(timer);
  };
  const premises: Premises = { shop, faults: switchboard(), seen: [], connections: new Map(), clock, later };
  let opened = 0;
  const server = createServer((request, response) => void serve(premises, request, response));
  server.on("connection", (socket: Socket) => {
    opened += 1;
    premises.connections.set(socket, opened);
    socket.on("error", () => undefined);
    socket.on("close", () => premises.connections.delete(socket));
  });
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen(port, "127.0.0.1", resolve),
  );
  const address = server.address() as AddressInfo; // It listens on TCP: neither a pipe's name nor nothing.
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    journal: () => [...shop.effects],
    effectsOf: (operationId) => effectsOf(shop, operationId),
    fault: (kind, setting) => premises.faults.set(kind, setting),
    clearFaults: () => premises.faults.clear(),
    setItem: (resource, available) => setItem(shop, resource, available, "setup"),
    writeAsSomebodyElse: (resource, available) => setItem(shop, resource, available, "somebody else"),
    requests: () => [...premises.seen],
    connections: () => opened,
    advance: (ms) => {
      clock.aheadMs += ms;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          journal.close();
          resolve();
        });
        for (const timer of timers) clearTimeout(timer);
        server.closeAllConnections();
      }),
  };
}
