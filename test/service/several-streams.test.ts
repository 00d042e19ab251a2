import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { followThroughKills } from '../helpers/follow-through-kills.ts';

/** Needs a Redis that several processes share. */
const { REDIS_URL = '' } = process.env;
/** One of each process, the engine and the process above it. */
const KILLS = Number(process.env['KILLS'] ?? 6);

test(
  `every trade reaches fifty clients once through ${KILLS} kills of two ingesting and two serving processes that share Redis`,
  { timeout: 480_000 + KILLS * 20_000 },
  async () => {
    const redis = new URL(REDIS_URL);
    // A numbered database of its own: leases of another run must not be in the way.
    redis.pathname = `/${randomInt(1, 13)}`;
    const seen = await followThroughKills({ ingesting: 2, serving: 2, env: { REDIS_URL: redis.href }, kills: KILLS });
    expect(seen).toMatchObject({ missing: [], faults: [], invented: [] });
    expect(seen.trades).toBeGreaterThan(100);
    expect(seen.resumed).toBeGreaterThan(50);
  },
);
