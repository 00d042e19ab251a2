import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Platform } from '../../core/model.ts';
import { DAY_US } from '../../core/time.ts';
import type { Postgres } from '../../stores/postgres/client.ts';
import { rowsOf } from '../../stores/postgres/json-row.ts';
import { HELD, type PresentMarket, toPresentMarket } from '../read.ts';
import { type HeldSpans, marketNamed, spanJoins, SPANS, spansOf } from './read.ts';
import { NOTIONAL } from './rows.ts';

/** A market with the spans of its trades. */
export interface SpannedMarket extends HeldSpans {
  market: PresentMarket;
  /** When its platform made it; null if it does not say so. */
  createdMs: number | null;
  firstSeenMs: number;
  /** Sums over its stored trades; null if PostgreSQL lacks some of them. */
  volumes: HeldVolumes | null;
}

/** Decimal sums over the stored trades executed in (at − window, at], `size_…` in contracts and `notional_…` in USD; `_total` over all. */
export const HeldVolumes = z.object({
  size_24h: z.string(),
  size_7d: z.string(),
  size_30d: z.string(),
  size_1y: z.string(),
  notional_24h: z.string(),
  notional_7d: z.string(),
  notional_30d: z.string(),
  notional_1y: z.string(),
  notional_total: z.string(),
  /** Number of different takers that the trades name. */
  traders: z.coerce.number(),
});
export type HeldVolumes = z.infer<typeof HeldVolumes>;

/** The market with this stored name, with its volumes at an instant; null if there is none. One statement. */
export async function spannedMarket(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  name: string,
  atMs: number,
): Promise<SpannedMarket | null> {
  const [row] = rowsOf(
    await db.execute(sql`
      WITH market AS (${marketNamed(platform, name)})
      SELECT ${HELD}, r.by_created, ${SPANS},
        extract(epoch FROM m.first_seen_at) * 1000 AS first_seen,
        CASE WHEN f.is_built AND coalesce(tape.from_us, 0) = 0 AND f.kept_us = 0 THEN (
          SELECT row_to_json(v) FROM (
            SELECT ${sumSince(atMs, '1', '24h')}, ${sumSince(atMs, '7', '7d')}, ${sumSince(atMs, '30', '30d')}, ${sumSince(atMs, '365', '1y')},
              coalesce(sum(usd), 0)::text AS notional_total, count(DISTINCT wallet) AS traders
            FROM (SELECT executed_us, size, wallet, ${NOTIONAL} AS usd FROM present_trades AS t WHERE t.key = m.key) AS t
          ) AS v
        ) END AS volumes
      FROM market AS m JOIN present_ranks AS r USING (key) LEFT JOIN present_tapes AS tape USING (key) ${spanJoins(platform)}`),
  );
  if (!row) return null;
  const created = -Number(row['by_created']);
  return {
    market: toPresentMarket(row),
    createdMs: created > 0 ? created : null,
    firstSeenMs: Number(row['first_seen']),
    volumes: row['volumes'] === null ? null : HeldVolumes.parse(row['volumes']),
    ...spansOf(row),
  };
}

/** The columns `size_<name>` and `notional_<name>`: sums over the last `days`. */
const sumSince = (atMs: number, days: string, name: string): SQL => {
  const isIn = sql`FILTER (WHERE executed_us > ${atMs * 1000}::bigint - ${days}::bigint * ${DAY_US}::bigint)`;
  return sql`coalesce(sum(size) ${isIn}, 0)::text AS ${sql.identifier(`size_${name}`)}, coalesce(sum(usd) ${isIn}, 0)::text AS ${sql.identifier(`notional_${name}`)}`;
};
