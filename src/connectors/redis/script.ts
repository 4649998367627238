import type { MarkerNote, RedisWrite } from "./message.ts";

/** One script with everything it works on: what Redis runs as one step. */
export interface Script {
  readonly text: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** What both scripts ask first: is the marker there, and whose is it? */
const SEEN = `
local function say(result, more)
  more = more or {}
  more.result = result
  return cjson.encode(more)
end
local function seen(operation, digest)
  local found = redis.call('HMGET', KEYS[1], 'operation', 'digest', 'state', 'version')
  if not found[1] and not found[3] then return nil end
  local state = found[3] or ''
  local more = { operation = found[1] or '', digest = found[2] or '', state = state }
  if found[1] ~= operation or found[2] ~= digest then return say('mismatch', more) end
  if found[4] then more.version = found[4] end
  if state == 'applied' then return say('duplicate', more) end
  if state == 'barred' then return say('barred', more) end
  return say('half', more)
end
local function mark(operation, digest, state, keep)
  redis.call('HSET', KEYS[1], 'operation', operation, 'digest', digest, 'state', state)
  if keep ~= '' then redis.call('PEXPIRE', KEYS[1], keep) end
end
`;

/**
 * Redis does not roll a script back: what could go wrong is asked before anything is written, and should a command go wrong nevertheless, the
 * marker says that half of it was done. Nothing of an argument becomes part of the script.
 */
const WRITE = `${SEEN}
local operation, digest, keep, field, expected = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local before = seen(operation, digest)
if before then return before end
if field ~= '' then
  local kind = redis.call('TYPE', KEYS[2]).ok
  if kind ~= 'hash' and kind ~= 'none' then return say('refused', { message = 'the resource is a ' .. kind }) end
  local version = redis.call('HGET', KEYS[2], field)
  if kind == 'none' then version = '0' end
  if not version then return say('refused', { message = 'the resource has no version' }) end
  if not string.match(version, '^%d+$') then return say('refused', { message = 'the version is not a whole number' }) end
  if version ~= expected then return say('stale', { version = version }) end
end
local commands, at = {}, 6
while at <= #ARGV do
  local kind, count = ARGV[at], tonumber(ARGV[at + 1])
  local words = {}
  for i = 1, count do words[i] = ARGV[at + 1 + i] end
  at = at + 2 + count
  local is = redis.call('TYPE', words[2]).ok
  if is ~= kind and is ~= 'none' then
    return say('refused', { message = words[2] .. ' is a ' .. is .. ', and ' .. words[1] .. ' needs a ' .. kind })
  end
  commands[#commands + 1] = words
end
mark(operation, digest, 'half', keep)
for i, words in ipairs(commands) do
  local answer = redis.pcall(unpack(words))
  if type(answer) == 'table' and answer.err then
    if i > 1 then return say('half', { message = answer.err }) end
    redis.call('DEL', KEYS[1])
    return say('refused', { message = answer.err })
  end
end
local more = {}
if field ~= '' then
  local counted = redis.pcall('HINCRBY', KEYS[2], field, 1)
  if type(counted) == 'table' and counted.err then return say('half', { message = counted.err }) end
  more.version = redis.call('HGET', KEYS[2], field)
  redis.call('HSET', KEYS[1], 'version', more.version)
end
redis.call('HSET', KEYS[1], 'state', 'applied')
return say('applied', more)
`;

const BAR = `${SEEN}
local operation, digest, keep = ARGV[1], ARGV[2], ARGV[3]
local before = seen(operation, digest)
if before then return before end
mark(operation, digest, 'barred', keep)
return say('barred', { operation = operation, digest = digest, state = 'barred' })
`;

export function writeScript({ expect, commands, ...note }: RedisWrite): Script {
  return {
    text: WRITE,
    // Every key that is touched stands here: a cluster refuses a script whose keys live on two of its nodes.
    keys: [note.marker, expect?.key ?? note.marker, ...commands.map(({ words: [, key] }) => key)],
    args: [
      ...noteArgs(note),
      expect?.field ?? "",
      expect?.is ?? "",
      ...commands.flatMap(({ type, words }) => [type, String(words.length), ...words]),
    ],
  };
}

export function barScript(note: MarkerNote): Script {
  return { text: BAR, keys: [note.marker], args: noteArgs(note) };
}

function noteArgs({ operation, digest, keepMs }: MarkerNote): readonly string[] {
  return [operation, digest, keepMs === undefined ? "" : String(keepMs)];
}
