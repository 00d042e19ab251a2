import { z } from 'zod';
import type { Platform } from '../../core/model.ts';
import type { ClickHouse } from './client.ts';

/** A span in which trades of a platform's feed are missing. Unix µs. */
export interface TradeGap {
  fromUs: number;
  toUs: number;
}

/** A row of sql/queries/trade_gaps.sql. */
const GapRow = z
  .object({ from_us: z.coerce.number(), to_us: z.coerce.number() })
  .transform((row): TradeGap => ({ fromUs: row.from_us, toUs: row.to_us }));

/** The gaps of a platform's feed that are not filled, oldest first. */
export const tradeGaps = (clickhouse: Pick<ClickHouse, 'query'>, platform: Platform): Promise<TradeGap[]> =>
  clickhouse.query('trade_gaps', GapRow, { platform });
