/**
 * A token bucket as in local.ts, on Redis's own clock in microseconds: all processes share one budget.
 * KEYS bucket; ARGV capacity, refill per second, cost, longest wait in ms. Returns the wait in ms, -1 if too long.
 */
export const TAKE_BUDGET = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local perToken = 1000000 / ARGV[2]
local fullAt = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now)) + ARGV[3] * perToken
local wait = math.max(0, math.ceil((fullAt - now - ARGV[1] * perToken - 1) / 1000))
if wait > tonumber(ARGV[4]) then return -1 end
redis.call('SET', KEYS[1], string.format('%.0f', fullAt), 'PX', math.ceil((fullAt - now) / 1000) + 1000)
return wait`;

/** KEYS lease; ARGV owner, ttl in ms. Returns 1 if the owner holds the lease now. */
export const TAKE_LEASE = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** KEYS lease; ARGV owner, ttl in ms. Returns 1 if the owner still held the lease. */
export const RENEW_LEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** KEYS lease; ARGV owner. */
export const RELEASE_LEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/** KEYS slot set (member = holder, score = its expiry in ms); ARGV limit, ttl in ms, holder. Returns 1 if the slot was taken. */
export const TAKE_SLOT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/** KEYS set (score = expiry of the member in ms); ARGV limit, ttl in ms, members. Returns 1 if all are in the set. */
export const CLAIM = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local more = 0
for i = 3, #ARGV do
  if not redis.call('ZSCORE', KEYS[1], ARGV[i]) then more = more + 1 end
end
if more > 0 and redis.call('ZCARD', KEYS[1]) + more > tonumber(ARGV[1]) then return 0 end
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;
