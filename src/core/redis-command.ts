/** What a key must hold for a command to work on it. */
export type RedisType = "string" | "hash" | "list" | "set" | "zset" | "stream";

/** Commands that write one key, the first argument, and do the same wherever they run. */
const COMMANDS: Readonly<Record<string, RedisType>> = {
  SET: "string",
  APPEND: "string",
  INCRBY: "string",
  DECRBY: "string",
  HSET: "hash",
  HDEL: "hash",
  HINCRBY: "hash",
  RPUSH: "list",
  LPUSH: "list",
  LREM: "list",
  SADD: "set",
  SREM: "set",
  ZADD: "zset",
  ZREM: "zset",
  ZINCRBY: "zset",
  XADD: "stream",
};

export const KNOWN_COMMANDS: readonly string[] = Object.keys(COMMANDS);

/** The type of key that the command works on; undefined for a command that a contract may not use. */
export function knownCommand(name: string): RedisType | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}
