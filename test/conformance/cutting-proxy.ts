import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Where the wire between us and a provider breaks. */
export type CutPoint = "before send" | "mid body" | "after effect" | "after headers";
export const CUT_POINTS: readonly CutPoint[] = ["before send", "mid body", "after effect", "after headers"];

/**
 * How the one write of a connection is heard on its wire. Each expression is matched against the bytes as latin1. The client's side is
 * heard from the beginning of the connection, or from the end of the last answer.
 */
export interface Speech {
  /** The first bytes of the write. */
  readonly begins: RegExp;
  /** The write from its first byte to somewhere in its body, never to its end. */
  readonly middle: RegExp;
  /** The first bytes of the server's answer to the whole write: it has acted. */
  readonly answers: RegExp;
  /** The server's answer from its first byte to where "after headers" cuts. */
  readonly head: RegExp;
}

/** Requests of HTTP/1.1 that begin so: `httpSpeech("PUT /items/")`. */
export function httpSpeech(begins: string): Speech {
  return {
    begins: new RegExp(begins.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")),
    middle: /^[\s\S]*?\r\n\r\n[\s\S]{8}/,
    answers: /HTTP\/1\.[01] [2-5]/,
    head: /HTTP\/1\.[01] [2-5][\s\S]*?\r\n\r\n/,
  };
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface CuttingProxy extends Address {
  /** Breaks the next write that begins, once. */
  cut(point: CutPoint): void;
  /** How many writes were broken. */
  cuts(): number;
  /** Both sides of every connection end. */
  close(): Promise<void>;
}

/** A wire to a real server that breaks where it is told to. What is not cut goes through as it is. */
export async function cuttingProxy(target: Address, speech: Speech): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const orders: CutPoint[] = [];
  let cuts = 0;
  const wire: Wire = {
    speech,
    take: () => orders.shift(),
    done: () => {
      cuts += 1;
    },
  };
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    relay(client, upstream, wire);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    host: "127.0.0.1",
    port,
    cut: (point) => void orders.push(point),
    cuts: () => cuts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

interface Wire {
  readonly speech: Speech;
  /** Where to break the write that begins now, if it is to break. */
  readonly take: () => CutPoint | undefined;
  readonly done: () => void;
}

/** What of these bytes goes on, and whether the wire breaks behind them. */
interface Passed {
  readonly bytes: Buffer;
  readonly cut: boolean;
}

/** One connection: what has been said and heard since the last answer, and where it is to break. */
interface Line {
  said: string;
  heard: string;
  point: CutPoint | undefined;
}

function relay(client: Socket, upstream: Socket, wire: Wire): void {
  const line: Line = { said: "", heard: "", point: undefined };
  let over = false;
  const through = (to: Socket, pass: (bytes: Buffer) => Passed) => (bytes: Buffer) => {
    if (over) return;
    const { bytes: last, cut } = pass(bytes);
    if (!cut) return void to.write(last);
    over = true;
    to.write(last, () => {
      client.destroy();
      upstream.destroy();
      wire.done();
    });
  };
  client.on(
    "data",
    through(upstream, (bytes) => fromClient(bytes, line, wire)),
  );
  upstream.on(
    "data",
    through(client, (bytes) => fromServer(bytes, line, wire.speech)),
  );
  client.on("close", () => upstream.end());
  upstream.on("close", () => client.end());
}

function fromClient(bytes: Buffer, line: Line, { speech, take }: Wire): Passed {
  let start = line.said.length;
  line.said += bytes.toString("latin1");
  if (line.point === undefined) {
    const begin = speech.begins.exec(line.said);
    if (begin !== null) line.point = take();
    if (begin === null || line.point === undefined) return { bytes, cut: false };
    line.said = line.said.slice(begin.index);
    line.heard = "";
    // Negative when something else of the client's stands before the write in these bytes.
    start -= begin.index;
    if (line.point === "before send") return { bytes: bytes.subarray(0, Math.max(0, -start)), cut: true };
  }
  if (line.point !== "mid body") return { bytes, cut: false };
  const middle = speech.middle.exec(line.said);
  if (middle === null) return { bytes, cut: false };
  return { bytes: bytes.subarray(0, middle[0].length - start), cut: true };
}

function fromServer(bytes: Buffer, line: Line, speech: Speech): Passed {
  if (line.point !== "after effect" && line.point !== "after headers") {
    // An answer ends what was said: the next write of this connection is heard from its own beginning.
    if (line.point === undefined) line.said = "";
    return { bytes, cut: false };
  }
  const before = line.heard.length;
  line.heard += bytes.toString("latin1");
  const answered = speech.answers.exec(line.heard);
  if (answered === null) return { bytes, cut: false };
  if (line.point === "after effect")
    return { bytes: bytes.subarray(0, Math.max(0, answered.index - before)), cut: true };
  const head = speech.head.exec(line.heard);
  if (head === null) return { bytes, cut: false };
  return { bytes: bytes.subarray(0, head.index + head[0].length - before), cut: true };
}
