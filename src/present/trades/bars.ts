import { sql } from 'drizzle-orm';
import { marketKey } from '../../core/market-key.ts';
import type { Platform } from '../../core/model.ts';
import type { Postgres } from '../../stores/postgres/client.ts';
import { rowsOf } from '../../stores/postgres/json-row.ts';
import { ownKey } from '../rows.ts';
import { NOTIONAL } from './rows.ts';

/** One price series of a market, and its buckets of [startTs, endTs); Unix seconds. */
export interface HeldBarsQuery {
  platform: Platform;
  ref: string;
  series: number;
  startTs: number;
  endTs: number;
  stepSeconds: number;
  /** 60 or 3600: the bars of ClickHouse that a bucket is made of there. */
  barSeconds: number;
}

/** A bucket with trades, as sql/queries/bars_of_trades.sql gives it. A bucket of block trades alone has no price. */
export interface HeldBar {
  t: number;
  open: string | null;
  high: string | null;
  low: string | null;
  close: string | null;
  volume: string;
  notional: string;
  trades: number;
}

export interface HeldBars {
  /** Oldest first. */
  bars: HeldBar[];
  /** The last price before the buckets and the start of its bar; null if there is none, undefined if it may be in ClickHouse. */
  before: { startTs: number; text: string } | null | undefined;
}

/**
 * Bars of the trades that PostgreSQL has; null if it lacks some of the buckets' trades. Trades of one bar are ordered by their place as
 * in sql/schema/002_trades.sql, and by price. One statement.
 */
export async function heldBars({ db }: Pick<Postgres, 'db'>, query: HeldBarsQuery): Promise<HeldBars | null> {
  const { platform, ref, series, startTs, endTs, stepSeconds: step, barSeconds: bar } = query;
  const key = ownKey(marketKey({ platform, ref }));
  const [row] = rowsOf(
    await db.execute(sql`
      WITH held AS (
        SELECT greatest(from_us, kept_us) AS from_us FROM (
          SELECT CASE WHEN f.is_built THEN coalesce(t.from_us, 0) ELSE t.from_us END AS from_us, f.kept_us
          FROM present_feeds AS f LEFT JOIN present_tapes AS t ON t.key = ${key}::bigint WHERE f.platform = ${platform}
        ) AS t WHERE from_us IS NOT NULL AND greatest(from_us, kept_us) <= ${startTs * 1e6}::bigint
      ), placed AS (
        SELECT executed_us, executed_us / ${bar * 1e6}::bigint * ${bar}::bigint AS at, ${PLACE} AS place, size, ${NOTIONAL} AS usd, is_block,
          CASE WHEN outcome_index = series THEN price ELSE 1 - price END AS px
        FROM present_trades WHERE key = ${key}::bigint AND series = ${series}::smallint
          AND executed_us >= (SELECT from_us FROM held) AND executed_us < ${endTs * 1e6}::bigint
      )
      SELECT held.from_us, (
        SELECT json_agg(b ORDER BY t) FROM (
          SELECT at / ${step}::bigint * ${step}::bigint AS t,
            (array_agg(px ORDER BY at, place, px) FILTER (WHERE NOT is_block))[1]::text AS open, (max(px) FILTER (WHERE NOT is_block))::text AS high,
            (min(px) FILTER (WHERE NOT is_block))::text AS low, (array_agg(px ORDER BY at DESC, place DESC, px DESC) FILTER (WHERE NOT is_block))[1]::text AS close,
            sum(size)::text AS volume, sum(usd)::text AS notional,
            count(*) AS trades
          FROM placed WHERE executed_us >= ${startTs * 1e6}::bigint GROUP BY 1
        ) AS b
      ) AS bars, (
        SELECT json_build_object('startTs', at, 'text', px::text) FROM placed
        WHERE executed_us < ${startTs * 1e6}::bigint AND NOT is_block ORDER BY at DESC, place DESC, px DESC LIMIT 1
      ) AS before
      FROM held`),
  );
  if (!row) return null;
  const before = row['before'] as { startTs: number; text: string } | null;
  return {
    bars: (row['bars'] as HeldBar[] | null) ?? [],
    before: before ?? (Number(row['from_us']) === 0 ? null : undefined),
  };
}

/** A trade's place among those of its hour. Keys and orders are stored less 2^63: the highest bit is turned around. */
const PLACE = sql.raw(`
  CASE WHEN id_tx = ''::bytea
    THEN (executed_us % 3600000000 << 32) | ((trade_order >> 32) + 2147483648)
    ELSE (executed_us % 3600000000 / 1000000 << 52) | ((trade_order >> 25) + 274877906944 << 13) | (trade_order & 8191)
  END # (1::bigint << 63)`);
