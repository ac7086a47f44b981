import { hash } from 'node:crypto';
import { SLOT_WAIT_MS } from './memory-counts.js';

/** A script and its hash, under which the server caches it. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

const script = (lua: string): RedisScript => ({ lua, sha: hash('sha1', lua) });

/** Shared prelude: the server's time, and the sliding window of `SlidingWindow`. */
const COMMON = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function read(key, size)
  local stored = redis.call('HMGET', key, 'window', 'current', 'previous')
  local w = { key = key, size = size, window = math.floor(now / size), current = 0, previous = 0 }
  local window, current = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
  if window >= w.window then
    w.window, w.current, w.previous = window, current, tonumber(stored[3] or 0)
  elseif window == w.window - 1 then
    w.previous = current
  end
  w.gone = math.max(0, now - w.window * size)
  return w
end

local function write(w)
  redis.call('HSET', w.key, 'window', w.window, 'current', w.current, 'previous', w.previous)
  redis.call('PEXPIRE', w.key, 2 * w.size)
end
`;

/**
 * Takes everything or nothing. KEYS: counts, then slots. ARGV: ID of the acquisition, lease in ms, number of counts;
 * window, limit and amount of each count; limit of each slot. Returns the index of the exceeded limit (from 1; 0 for
 * none) and the wait (-1: forever), then used, reset and window of each count.
 */
export const ACQUIRE = script(`${COMMON}
local function wait_of(w, amount, limit)
  local room = limit - amount
  if room < 0 then return -1 end
  if w.previous * (w.size - w.gone) <= (room - w.current) * w.size then return 0 end
  if w.current <= room then return math.ceil(w.size * (w.previous + w.current - room) / w.previous) - w.gone end
  return w.size - w.gone + math.ceil(w.size * (w.current - room) / w.current)
end

local which, longest = 0, 0
local function note(index, wait)
  if wait == 0 or longest == -1 then return end
  if wait == -1 or wait > longest then which, longest = index, wait end
end

local id, lease, counts = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local windows = {}
for i = 1, counts do
  windows[i] = read(KEYS[i], tonumber(ARGV[3 * i + 1]))
  note(i, wait_of(windows[i], tonumber(ARGV[3 * i + 3]), tonumber(ARGV[3 * i + 2])))
end
for i = counts + 1, #KEYS do
  local limit = tonumber(ARGV[2 * counts + 3 + i])
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  if limit == 0 then note(i, -1)
  elseif redis.call('ZCARD', KEYS[i]) >= limit then note(i, ${SLOT_WAIT_MS}) end
end

if which == 0 then
  for i = 1, counts do
    windows[i].current = windows[i].current + tonumber(ARGV[3 * i + 3])
    write(windows[i])
  end
  for i = counts + 1, #KEYS do
    redis.call('ZADD', KEYS[i], now + lease, id)
    redis.call('PEXPIRE', KEYS[i], lease)
  end
end

local result = { which, longest }
for i = 1, counts do
  local w = windows[i]
  local left = (w.current > 0 and 2) or (w.previous > 0 and 1) or 0
  result[#result + 1] = math.ceil(w.current + w.previous * (w.size - w.gone) / w.size)
  result[#result + 1] = math.max(0, left * w.size - w.gone)
  result[#result + 1] = w.window
end
return result
`);

/** KEYS: counts, then slots. ARGV: ID of the acquisition, number of counts; window size, window and amount of each. */
export const RELEASE = script(`${COMMON}
local counts = tonumber(ARGV[2])
for i = 1, counts do
  local w = read(KEYS[i], tonumber(ARGV[3 * i]))
  local window, amount = tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2])
  if amount > 0 then w.current = w.current + amount
  elseif window == w.window then w.current = math.max(0, w.current + amount)
  elseif window == w.window - 1 then w.previous = math.max(0, w.previous + amount) end
  write(w)
end
for i = counts + 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
`);

/** KEYS: slots. ARGV: new lease in ms; ID of the acquisition of each slot. */
export const RENEW = script(`${COMMON}
local lease = tonumber(ARGV[1])
for i = 1, #KEYS do
  redis.call('ZADD', KEYS[i], now + lease, ARGV[i + 1])
  redis.call('PEXPIRE', KEYS[i], lease)
end
`);

/** Writes a key, which a full or read-only server rejects. */
export const PROBE = script(`redis.call('SET', KEYS[1], '1', 'PX', 1000)`);

export const SCRIPTS = [ACQUIRE, RELEASE, RENEW, PROBE] as const;
