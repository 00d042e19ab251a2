import { z } from 'zod';
import type { ClickHouse } from './client.ts';

/** Rows become visible shortly after their time: a read begins this much before the end of the last one. */
export const LATE_ROW_MS = 3000;

/** A row of sql/queries/store_clock.sql. */
const ClockRow = z.object({ now_ms: z.coerce.number() });

/** Unix ms by the store's clock, because this machine's may differ. */
export async function storeClock(clickhouse: Pick<ClickHouse, 'query'>): Promise<number> {
  const [row] = await clickhouse.query('store_clock', ClockRow);
  return row?.now_ms ?? 0;
}
