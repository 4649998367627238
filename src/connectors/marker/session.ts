import pg from "pg";
import type { Statement } from "../../service/ledger-port.ts";
import { addressOf, type MarkerSettings } from "./settings.ts";

/** What the server did. */
interface Done {
  /** "COMMIT", "ROLLBACK", "UPDATE" …: what was done, which need not be what was asked. */
  readonly tag: string;
  readonly rowCount: number | null;
  readonly rows: readonly unknown[];
  /** The server warned while it worked on this. */
  readonly warned: boolean;
}

/** The server's own no to one statement: the transaction is over. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly sqlState: string;
  /** It says nothing of a COMMIT that it answers. */
  readonly open: boolean;
  constructor(error: pg.DatabaseError) {
    super(error.message);
    this.sqlState = error.code ?? "XX000";
    const ended = error.severity === "FATAL" || error.severity === "PANIC";
    // 40003 (statement completion unknown), the connection, the session, resources, an internal error.
    this.open = ended || /^(08|25P0[34]|40003|53|57P|58|F0|XX)/.test(this.sqlState);
  }
}

/** The connection is gone, or never was. */
export class Gone extends Error {
  override readonly name = "Gone";
}

/** One connection of our own, for one transaction. It repeats nothing and is ended with it. */
export interface Session {
  /** Rejects with `Refused` or `Gone`. */
  ask(text: string, values?: Statement["values"]): Promise<Done>;
  end(): void;
}

const CONNECT_MS = 10_000;

/** Rejects with `Gone` when there is no connection to be had. */
export async function openSession(settings: MarkerSettings, signal: AbortSignal): Promise<Session> {
  const client = new pg.Client({
    connectionString: addressOf(settings).href,
    connectionTimeoutMillis: settings.connectMs ?? CONNECT_MS,
    application_name: "writ",
    keepAlive: true,
  });
  let warned = false;
  // Without a listener an error between two questions would end the process.
  client.on("error", () => undefined);
  client.on("notice", ({ severity }) => {
    warned ||= severity === "WARNING";
  });
  const end = (): void => {
    signal.removeEventListener("abort", end);
    streamOf(client).destroy();
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    if (signal.aborted) throw new Error("its time was over before it began");
    await client.connect();
  } catch (error) {
    end();
    throw new Gone(error instanceof Error ? error.message : String(error));
  }
  return {
    ask: async (text, values) => {
      warned = false;
      try {
        const { command, rowCount, rows } = await client.query(
          text,
          values === undefined ? undefined : [...values],
        );
        return { tag: command, rowCount, rows, warned };
      } catch (error) {
        if (error instanceof pg.DatabaseError) throw new Refused(error);
        throw new Gone(error instanceof Error ? error.message : String(error));
      }
    },
    end,
  };
}

/** The driver's goodbye waits for an answer, and its types do not show the socket. */
function streamOf(client: pg.Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}
