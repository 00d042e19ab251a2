import { expect, test } from 'vitest';
import { followThroughKills } from '../../helpers/follow-through-kills.ts';

/** One of each process, the engine and the process above it; `KILLS=200` takes half an hour. */
const KILLS = Number(process.env['KILLS'] ?? 5);

test(
  `every trade reaches fifty clients once, in order within its market, through ${KILLS} kills of ingestion, engine and two serving processes`,
  { timeout: 120_000 + KILLS * 20_000 },
  async () => {
    const seen = await followThroughKills({ ingesting: 1, serving: 2, env: {}, kills: KILLS });
    expect(seen).toMatchObject({ missing: [], faults: [], invented: [] });
    expect(seen.trades).toBeGreaterThan(100);
    expect(seen.resumed).toBeGreaterThan(50);
  },
);
