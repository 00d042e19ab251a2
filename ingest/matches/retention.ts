import { z } from 'zod';
import { DAY_MS, storeTime } from '../../src/core/time.ts';
import type { Projector } from '../../src/present/projector.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** Verdicts and facts stay this long after a market was settled. */
const KEPT_DAYS = 30;
/** Markets of one statement. */
const FORGOTTEN_AT_ONCE = 500;

const KeyRow = z.object({ market_key: z.string() });

/** Drops the verdicts on markets that were settled long ago, and their facts; returns the number of these markets. */
export async function forgetSettled(
  clickhouse: Pick<ClickHouse, 'query' | 'command'>,
  present: Pick<Projector, 'dropMatches'>,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> {
  const before = storeTime(nowMs - KEPT_DAYS * DAY_MS);
  for (let forgotten = 0; ;) {
    signal.throwIfAborted();
    const rows = await clickhouse.query('settled_to_forget', KeyRow, { before, limit: FORGOTTEN_AT_ONCE });
    const keys = rows.map(({ market_key: key }) => BigInt(key));
    if (keys.length > 0) {
      // PostgreSQL first: after a kill in between, ClickHouse still has these markets, and they are found again.
      await present.dropMatches(rows.map(({ market_key: key }) => key));
      await clickhouse.command(
        'DELETE FROM matches WHERE a_key IN {keys:Array(UInt64)} OR b_key IN {keys:Array(UInt64)}',
        { keys },
      );
      await clickhouse.command('DELETE FROM market_facts WHERE market_key IN {keys:Array(UInt64)}', { keys });
    }
    forgotten += keys.length;
    if (keys.length < FORGOTTEN_AT_ONCE) return forgotten;
  }
}
