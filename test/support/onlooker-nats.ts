import { type JetStreamManager, jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import type { Credentialed } from "../servers/nats.ts";

/** One message as the stream holds it. */
interface Kept {
  readonly seq: number;
  readonly subject: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client that knows nothing of Writ: it looks into streams, and writes as somebody else. */
export interface NatsOnlooker {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** Makes the stream, or leaves it as it is. */
  stream(config: Partial<StreamConfig> & { readonly name: string }): Promise<void>;
  /** Everything that the stream holds. */
  kept(stream: string): Promise<readonly Kept[]>;
  write(subject: string, text: string, with_?: Readonly<Record<string, string>>): Promise<number>;
  close(): Promise<void>;
}

/** `ca`: for a server that speaks inside of TLS only. */
export async function natsOnlooker(
  { url, user, password }: Credentialed,
  ca?: string,
): Promise<NatsOnlooker> {
  const servers = [new URL(url).host];
  const tls = ca === undefined ? {} : { tls: { ca } };
  const connection = await connect({ servers, user, pass: password, ...tls });
  const manager = await jetstreamManager(connection);
  return {
    connection,
    manager,
    stream: async (config) => {
      const known = await manager.streams.info(config.name).catch(() => undefined);
      if (known === undefined) await manager.streams.add(config);
    },
    kept: async (stream) => {
      const { state } = await manager.streams.info(stream);
      const found: Kept[] = [];
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
        const stored = await manager.streams.getMessage(stream, { seq });
        if (stored === null) continue;
        const names = stored.header?.keys() ?? [];
        found.push({
          seq,
          subject: stored.subject,
          text: Buffer.from(stored.data).toString("utf8"),
          headers: Object.fromEntries(names.map((name) => [name, stored.header?.get(name) ?? ""])),
        });
      }
      return found;
    },
    write: async (subject, text, named = {}) => {
      const all = headers();
      for (const [name, value] of Object.entries(named)) all.set(name, value);
      const { seq } = await manager.jetstream().publish(subject, text, { headers: all });
      return seq;
    },
    close: () => connection.close(),
  };
}
