import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Where the connection breaks: before the server hears the COMMIT, or after it has committed and before we hear of it. */
export type Cut = "before commit" | "after commit";

export interface CutProxy {
  readonly url: string;
  /** Breaks the next transaction that speaks of `text`, once. Resolves when it has. With "down" nobody gets through after it. */
  cut(where: Cut, text: string, afterwards?: "down"): Promise<void>;
  up(): void;
}

interface Order {
  readonly where: Cut;
  readonly text: string;
  readonly afterwards: "down" | "up";
  readonly done: () => void;
}

interface State {
  order: Order | undefined;
  line: "down" | "up";
}

const COMMIT = Buffer.from("commit\0");

/** A wire to PostgreSQL that can be cut at the one moment that matters: around the answer to a COMMIT. */
export async function cutProxy(databaseUrl: string): Promise<CutProxy> {
  const target = new URL(databaseUrl);
  const state: State = { order: undefined, line: "up" };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (state.line === "down") return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    relay(client, upstream, state);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    cut: (where, text, afterwards) =>
      new Promise((done) => {
        state.order = { where, text, afterwards: afterwards ?? "up", done };
      }),
    up: () => {
      state.line = "up";
    },
  };
}

function relay(client: Socket, upstream: Socket, state: State): void {
  let spoken = "";
  let swallowing: Order | undefined;
  const cut = (order: Order): void => {
    state.line = order.afterwards;
    client.destroy();
    upstream.destroy();
    order.done();
  };
  client.on("data", (bytes: Buffer) => {
    spoken += bytes.toString("latin1");
    const { order } = state;
    // A read has a transaction of its own, and nothing to commit.
    const writes = !spoken.includes("read only\0");
    const commits = bytes.includes(COMMIT) && order !== undefined && writes && spoken.includes(order.text);
    if (!commits) {
      if (bytes.includes(COMMIT)) spoken = "";
      upstream.write(bytes);
      return;
    }
    state.order = undefined;
    if (order.where === "after commit") {
      swallowing = order;
      upstream.write(bytes);
      return;
    }
    // Everything before the COMMIT still arrives: the server holds its locks until it notices that we are gone.
    upstream.write(bytes.subarray(0, bytes.lastIndexOf(COMMIT) - 5), () => cut(order));
  });
  upstream.on("data", (bytes: Buffer) => {
    if (swallowing === undefined) client.write(bytes);
    // The tag of a committed transaction: the server has it on disk.
    else if (bytes.includes("COMMIT\0")) cut(swallowing);
  });
  client.on("close", () => upstream.end());
  upstream.on("close", () => client.end());
}
