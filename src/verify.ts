import { z } from 'zod';
import type { ClickHouse } from './clickhouse.ts';

/** What a comparison of one roll-up with the raw trades came to. */
export interface Verdict {
  table: string;
  /** Markets, bars or platforms that were recomputed. */
  compared: number;
  different: number;
}

const Row = z.object({ compared: z.coerce.number(), different: z.coerce.number() });

/** How each roll-up is recomputed: by its sums, by whole bars, or as a list of trades. */
const ROLLUPS = [
  { table: 'volume_1h', query: 'verify_sums', step: 0 },
  { table: 'market_totals', query: 'verify_sums', step: 0 },
  { table: 'candles_1m', query: 'verify_bars', step: 60 },
  { table: 'candles_1h', query: 'verify_bars', step: 3600 },
  { table: 'whales', query: 'verify_lists', step: 0 },
  { table: 'whale_sizes', query: 'verify_lists', step: 0 },
] as const;

/** Recomputes every roll-up from the raw trades of one market in `every` (1 = all) and counts what differs. */
export async function verifyRollups(clickhouse: ClickHouse, every: number): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { table, query, step } of ROLLUPS) {
    const [row] = await clickhouse.query(query, Row, { table, every, step }, { timeoutMs: 600_000 });
    verdicts.push({ table, compared: row?.compared ?? 0, different: row?.different ?? 0 });
  }
  return verdicts;
}
