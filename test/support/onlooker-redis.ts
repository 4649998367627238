import { createClient } from "redis";

/** A client that knows nothing of Writ. Its `$` speaks one plain command. */
export interface RedisOnlooker {
  $(...words: readonly string[]): Promise<unknown>;
  close(): void;
}

export async function redisOnlooker({
  url,
  password,
}: {
  readonly url: string;
  readonly password: string;
}): Promise<RedisOnlooker> {
  const client = createClient({ url, password, RESP: 2 });
  client.on("error", () => undefined);
  await client.connect();
  return { $: (...words) => client.sendCommand([...words]), close: () => client.destroy() };
}
