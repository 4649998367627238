import { onTestFinished } from "vitest";
import type { Proposal } from "../../src/core/proposal.ts";
import type { Session } from "../../src/core/session.ts";
import { connect, type Database } from "../../src/database/pool.ts";
import { type ClosableLedger, LEDGER_BOUNDS, postgresLedger } from "../../src/ledger/ledger.ts";
import { authorityView } from "../../src/service/authority.ts";
import type { Claiming, Ledger, Opening } from "../../src/service/ledger-port.ts";
import type { Ports } from "../../src/service/ports.ts";
import { propose } from "../../src/service/propose.ts";
import type { Rig } from "./rig.ts";

export interface Instance {
  readonly ports: Ports;
  readonly database: Database;
  readonly ledger: ClosableLedger;
}

/** One more process of Writ, as far as the database can tell: its own connections, its own ledger, its own view of authority. */
export async function instance(
  here: Pick<Rig, "url" | "ports">,
  name: string,
  url = here.url,
): Promise<Instance> {
  const database = await connect({ url });
  const ledger = postgresLedger(database, LEDGER_BOUNDS);
  onTestFinished(async () => {
    await ledger.close();
    await database.close();
  });
  const ports = { ...here.ports, ledger, authority: authorityView(ledger), worker: name };
  return { ports, database, ledger };
}

/** The opening that a proposal would send to the ledger; nothing is sent. */
export async function openingOf(ports: Ports, session: Session, asked: Proposal): Promise<Opening> {
  let seen: Opening | undefined;
  const ledger: Ledger = {
    ...ports.ledger,
    open: async (opening) => {
      seen = opening;
      return { kind: "key_spent" };
    },
  };
  await propose({ ...ports, ledger }, session, asked).catch(() => undefined);
  if (seen === undefined) throw new Error("the proposal did not reach the ledger");
  return seen;
}

/** The claim that `work` would send to the ledger; the ledger answers that somebody was faster. */
export async function claimingOf(ports: Ports, work: (ports: Ports) => Promise<unknown>): Promise<Claiming> {
  let seen: Claiming | undefined;
  const ledger: Ledger = {
    ...ports.ledger,
    claim: async (claiming) => {
      seen = claiming;
      return { kind: "changed" };
    },
  };
  await work({ ...ports, ledger });
  if (seen === undefined) throw new Error("nothing was claimed");
  return seen;
}
