import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../../core/model.ts';
import type { Database, Postgres } from '../../stores/postgres/client.ts';
import { jsonbOf, rowsOf } from '../../stores/postgres/json-row.ts';
import { type CopiedName, type CopiedSpan, type CopiedTrade, TRADE_NAMES, TRADE_ROW } from './rows.ts';
import { partsOf } from '../../core/parts.ts';

/** The newest trades of a market that are kept. */
export const KEPT = 1000;
/** If a market has more, it is shortened to KEPT. */
const MOST = KEPT * 1.25;
/** Maximum rows in one parameter. */
const SLICE = 2000;

/** A market whose trades were stored. Unix microseconds. */
export interface StoredTape {
  key: string;
  /** Trades executed before this are skipped now; 0 if none are. */
  skipped_us: number;
  /** Its newest stored trade. */
  last_us: number;
}

const keyList = (keys: readonly string[]): SQL => sql`${sql.param(keys)}::bigint[]`;

/**
 * Adds stored trades to their markets, in one transaction. The rows of the markets are locked first, so that nobody reads these markets
 * from ClickHouse during the transaction. A market without a row gets one: with `is_built`, it has no other stored trades.
 */
export async function storeTrades(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  tapes: readonly StoredTape[],
  trades: readonly CopiedTrade[],
): Promise<void> {
  await db.transaction(async (db) => {
    await db.execute(sql`
      INSERT INTO present_tapes (key, platform, from_us, rows, last_us, fill_at)
      SELECT key, ${platform}, CASE WHEN is_built THEN 0 ELSE last_us + 1 END, 0, last_us, CASE WHEN NOT is_built THEN now() END
      FROM jsonb_to_recordset(${jsonbOf(tapes)}) AS r(key bigint, last_us bigint),
        (SELECT coalesce((SELECT is_built FROM present_feeds WHERE platform = ${platform}), false) AS is_built) AS f
      ORDER BY key ON CONFLICT DO NOTHING`);
    const fromUs = await lockTapes(
      db,
      tapes.map(({ key }) => key),
    );
    const added = trades.filter((trade) => trade.executed_us >= (fromUs.get(trade.key) ?? Infinity));
    for (const part of partsOf(added, SLICE)) {
      await db.execute(sql`
        WITH added AS (${insertTrades(part)} ON CONFLICT DO NOTHING RETURNING key),
          counts AS (SELECT key, count(*) AS n FROM added GROUP BY key)
        UPDATE present_tapes AS t SET rows = t.rows + c.n FROM counts AS c WHERE t.key = c.key`);
    }
    const grown = await db.execute(sql`
      UPDATE present_tapes AS t SET last_us = greatest(t.last_us, r.last_us), from_us = greatest(t.from_us, r.skipped_us),
        fill_at = CASE WHEN r.skipped_us > t.from_us THEN now() + interval '2 minutes' ELSE t.fill_at END
      FROM jsonb_to_recordset(${jsonbOf(tapes)}) AS r(key bigint, skipped_us bigint, last_us bigint)
      WHERE t.key = r.key RETURNING t.key, t.rows`);
    const long = rowsOf(grown).flatMap(({ key, rows }) => (Number(rows) > MOST ? [String(key)] : []));
    if (long.length > 0) await shorten(db, long);
  });
}

/** Locks rows of markets until the transaction ends. Returns by key the time from which PostgreSQL has all stored trades, Unix µs. */
export async function lockTapes(db: Database, keys: readonly string[]): Promise<Map<string, number>> {
  const rows = rowsOf(
    await db.execute(
      sql`SELECT key, from_us FROM present_tapes WHERE key = ANY(${keyList(keys)}) ORDER BY key FOR UPDATE`,
    ),
  );
  return new Map(rows.map(({ key, from_us: us }) => [String(key), Number(us)]));
}

const insertTrades = (trades: readonly CopiedTrade[]): SQL => sql`
  INSERT INTO present_trades (${sql.raw(TRADE_NAMES)})
  SELECT ${sql.raw(TRADE_NAMES)} FROM jsonb_to_recordset(${jsonbOf(trades)}) AS r(${sql.raw(TRADE_ROW)})`;

/** Keeps the newest trades of locked markets. */
async function shorten(db: Database, keys: readonly string[]): Promise<void> {
  await db.execute(sql`
    WITH cuts AS (
      SELECT k.key, (SELECT executed_us FROM present_trades AS t WHERE t.key = k.key ORDER BY executed_us DESC OFFSET ${KEPT - 1} LIMIT 1) AS us
      FROM unnest(${keyList(keys)}) AS k(key)
    ), gone AS (
      DELETE FROM present_trades AS t USING cuts AS c WHERE t.key = c.key AND t.executed_us < c.us RETURNING t.key
    ), counts AS (SELECT key, count(*) AS n FROM gone GROUP BY key)
    UPDATE present_tapes AS t SET from_us = greatest(t.from_us, c.us), rows = t.rows - n.n
    FROM cuts AS c JOIN counts AS n USING (key) WHERE t.key = c.key`);
}

/** Replaces the trades of locked markets by these, newest first. */
export async function replaceTrades(
  db: Database,
  tapes: readonly { key: string; from_us: number; rows: number }[],
  trades: readonly CopiedTrade[],
): Promise<void> {
  await db.execute(sql`DELETE FROM present_trades WHERE key = ANY(${keyList(tapes.map(({ key }) => key))})`);
  for (const part of partsOf(trades, SLICE)) await db.execute(insertTrades(part));
  await db.execute(sql`
    UPDATE present_tapes AS t SET from_us = r.from_us, rows = r.rows, fill_at = NULL
    FROM jsonb_to_recordset(${jsonbOf(tapes)}) AS r(key bigint, from_us bigint, rows integer) WHERE t.key = r.key`);
}

/** Marks markets of which ClickHouse has trades that PostgreSQL lacks: their trades are read soon. */
export async function cutTapes(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  tapes: readonly { key: string; last_us: number }[],
): Promise<void> {
  for (const part of partsOf(tapes, SLICE)) {
    await db.execute(sql`
      INSERT INTO present_tapes AS t (key, platform, from_us, rows, last_us, fill_at)
      SELECT key, ${platform}, last_us + 1, 0, last_us, now()
      FROM jsonb_to_recordset(${jsonbOf(part)}) AS r(key bigint, last_us bigint) ORDER BY key
      ON CONFLICT (key) DO UPDATE SET from_us = greatest(t.from_us, excluded.from_us), last_us = greatest(t.last_us, excluded.last_us), fill_at = now()`);
  }
}

/** Stores names; the one seen last counts. */
export async function storeNames(db: Database, platform: Platform, names: readonly CopiedName[]): Promise<void> {
  for (const part of partsOf(names, SLICE)) {
    await db.execute(sql`
      INSERT INTO present_traders AS t (platform, wallet, name, pseudonym, profile_image, seen_at)
      SELECT ${platform}, wallet, name, pseudonym, profile_image, seen_at
      FROM jsonb_to_recordset(${jsonbOf(part)})
        AS r(wallet bytea, name text, pseudonym text, profile_image text, seen_at timestamptz)
      ORDER BY wallet
      ON CONFLICT (platform, wallet) DO UPDATE SET name = excluded.name, pseudonym = excluded.pseudonym,
        profile_image = excluded.profile_image, seen_at = excluded.seen_at
      WHERE t.seen_at <= excluded.seen_at`);
  }
}

/** Stores spans of feeds; the one with the highest version counts. */
export async function storeSpans(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  spans: readonly CopiedSpan[],
): Promise<void> {
  for (const part of partsOf(spans, SLICE)) {
    await db.execute(sql`
      INSERT INTO present_spans AS s (platform, key, from_us, to_us, marker, version_us)
      SELECT ${platform}, key, from_us, to_us, marker, version_us
      FROM jsonb_to_recordset(${jsonbOf(part)})
        AS r(key bigint, from_us bigint, to_us bigint, marker text, version_us bigint)
      ORDER BY key
      ON CONFLICT (platform, key) DO UPDATE SET from_us = excluded.from_us, to_us = excluded.to_us, marker = excluded.marker,
        version_us = excluded.version_us
      WHERE s.version_us <= excluded.version_us`);
  }
}
