import { sql, type SQL } from 'drizzle-orm';
import { marketKey } from '../../core/market-key.ts';
import type { Platform } from '../../core/model.ts';
import type { Postgres } from '../../stores/postgres/client.ts';
import { rowsOf } from '../../stores/postgres/json-row.ts';
import { HELD, marketsOfNames, type PresentMarket, toPresentMarket } from '../read.ts';
import { ownKey } from '../rows.ts';
import { type HeldSpans, spanJoins, SPANS, spansOf } from './read.ts';
import { NOTIONAL } from './rows.ts';

/** Buckets of [startTs, endTs); Unix seconds. */
export interface HeldRange {
  startTs: number;
  endTs: number;
  stepSeconds: number;
  /** Length of the stored bars that ClickHouse builds a bucket from: 60 or 3600. */
  barSeconds: number;
}

/** Buckets of one price series of a market. */
interface HeldBarsQuery extends HeldRange {
  platform: Platform;
  ref: string;
  series: number;
}

/** A bucket with trades, in the form of sql/queries/bars_of_trades.sql. A bucket that has only block trades has no prices. */
interface HeldBar {
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

/** A market with the spans of its trades, and bars of its first series. */
export interface HeldHistory extends HeldSpans {
  market: PresentMarket;
  /** null if PostgreSQL lacks some of the buckets' trades. */
  bars: HeldBars | null;
}

/** Bars of the trades that PostgreSQL has; null if it lacks some of the buckets' trades. One statement. */
export async function heldBars({ db }: Pick<Postgres, 'db'>, query: HeldBarsQuery): Promise<HeldBars | null> {
  const { platform, ref, series } = query;
  const key = sql`${ownKey(marketKey({ platform, ref }))}::bigint`;
  const [row] = rowsOf(await db.execute(sql`SELECT ${barsOf(platform, key, series, query)} AS held`));
  return toBars(row?.['held']);
}

/** The markets with these stored names, by name, with their bars. One statement. */
export async function historiesNamed(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  names: readonly string[],
  range: HeldRange,
): Promise<Map<string, HeldHistory>> {
  const rows = rowsOf(
    await db.execute(sql`
      WITH found AS (${marketsOfNames(platform, names)})
      SELECT m.name, ${HELD}, ${SPANS},
        ${barsOf(platform, sql`m.key`, 0, range)} AS held
      FROM found AS m ${spanJoins(platform)}`),
  );
  return new Map(
    rows.map((row) => [
      String(row['name']),
      { market: toPresentMarket(row), bars: toBars(row['held']), ...spansOf(row) },
    ]),
  );
}

type HeldJson = { from_us: number; bars: HeldBar[] | null; before: Exclude<HeldBars['before'], undefined> };

function toBars(held: unknown): HeldBars | null {
  if (held === null || held === undefined) return null;
  const { from_us: fromUs, bars, before } = held as HeldJson;
  return { bars: bars ?? [], before: before ?? (fromUs === 0 ? null : undefined) };
}

/**
 * Bars of a key's series as JSON; null if PostgreSQL lacks some of the buckets' trades. Trades of one bar are ordered by their place, as in
 * sql/schema/002_trades.sql, then by price.
 */
const barsOf = (
  platform: Platform,
  key: SQL,
  series: number,
  { startTs, endTs, stepSeconds: step, barSeconds: bar }: HeldRange,
): SQL => sql`(
  WITH held AS (
    SELECT greatest(from_us, kept_us) AS from_us FROM (
      SELECT CASE WHEN f.is_built THEN coalesce(t.from_us, 0) ELSE t.from_us END AS from_us, f.kept_us
      FROM present_feeds AS f LEFT JOIN present_tapes AS t ON t.key = ${key} WHERE f.platform = ${platform}
    ) AS t WHERE from_us IS NOT NULL AND greatest(from_us, kept_us) <= ${startTs * 1e6}::bigint
  ), placed AS (
    SELECT executed_us, executed_us / ${bar * 1e6}::bigint * ${bar}::bigint AS at, ${PLACE} AS place, size, ${NOTIONAL} AS usd, is_block,
      CASE WHEN outcome_index = series THEN price ELSE 1 - price END AS px
    FROM present_trades AS t WHERE t.key = ${key} AND series = ${series}::smallint
      AND executed_us >= (SELECT from_us FROM held) AND executed_us < ${endTs * 1e6}::bigint
  )
  SELECT json_build_object('from_us', held.from_us, 'bars', (
    SELECT json_agg(b ORDER BY t) FROM (
      SELECT at / ${step}::bigint * ${step}::bigint AS t,
        (array_agg(px ORDER BY at, place, px) FILTER (WHERE NOT is_block))[1]::text AS open, (max(px) FILTER (WHERE NOT is_block))::text AS high,
        (min(px) FILTER (WHERE NOT is_block))::text AS low, (array_agg(px ORDER BY at DESC, place DESC, px DESC) FILTER (WHERE NOT is_block))[1]::text AS close,
        sum(size)::text AS volume, sum(usd)::text AS notional,
        count(*) AS trades
      FROM placed WHERE executed_us >= ${startTs * 1e6}::bigint GROUP BY 1
    ) AS b
  ), 'before', (
    SELECT json_build_object('startTs', at, 'text', px::text) FROM placed
    WHERE executed_us < ${startTs * 1e6}::bigint AND NOT is_block ORDER BY at DESC, place DESC, px DESC LIMIT 1
  ))
  FROM held
)`;

/** A trade's place within its hour. It is unsigned, so its highest bit is flipped to compare it as a signed integer. */
const PLACE = sql.raw(`
  CASE WHEN id_tx = ''::bytea
    THEN (executed_us % 3600000000 << 32) | ((trade_order >> 32) + 2147483648)
    ELSE (executed_us % 3600000000 / 1000000 << 52) | ((trade_order >> 25) + 274877906944 << 13) | (trade_order & 8191)
  END # (1::bigint << 63)`);
