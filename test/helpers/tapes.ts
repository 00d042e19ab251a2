import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Platform } from '../../src/core/model.ts';
import { ownKey, storeKey } from '../../src/present/rows.ts';
import { CopiedSpan, CopiedTrade } from '../../src/present/trades/rows.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { Postgres } from '../../src/stores/postgres/client.ts';
import { rowsOf } from '../../src/stores/postgres/json-row.ts';

const KeyRow = z.object({ market_key: z.string() });

/**
 * Every market of which PostgreSQL does not have the trades that it says it has, or no row, and every span that it has otherwise than
 * ClickHouse; [] if they are alike.
 */
export async function tapeDifferences(
  { clickhouse, postgres }: { clickhouse: ClickHouse; postgres: Postgres },
  platform: Platform,
): Promise<object[]> {
  const listed = await clickhouse.query('present_tape_keys', KeyRow, { platform, after: 0n, limit: 100_000 });
  const tapes = new Map(
    rowsOf(
      await postgres.db.execute(sql`SELECT key, from_us, rows FROM present_tapes WHERE platform = ${platform}`),
    ).map((row) => [String(row['key']), { fromUs: Number(row['from_us']), rows: Number(row['rows']) }]),
  );
  const keys = [...new Set([...tapes.keys(), ...listed.map(({ market_key: key }) => ownKey(key))])];
  const found: object[] = [];
  for (const key of keys) {
    const tape = tapes.get(key);
    if (!tape) {
      found.push({ key, tape });
      continue;
    }
    const all = await clickhouse.query('present_tape', CopiedTrade, { key: BigInt(storeKey(key)), limit: 1_000_000 });
    const stored = all.filter(({ executed_us: us }) => us >= tape.fromUs);
    const copied = await copiedTrades(postgres, key);
    if (!isDeepStrictEqual(stored, copied) || tape.rows !== copied.length) found.push({ key, tape, stored, copied });
  }
  const spans = await clickhouse.query('present_spans', CopiedSpan, { platform, since: '1970-01-01 00:00:00' });
  const held = rowsOf(
    await postgres.db.execute(
      sql`SELECT key::text, from_us, to_us, marker, version_us FROM present_spans WHERE platform = ${platform}`,
    ),
  ).map((row) => CopiedSpan.parse(row));
  if (!isDeepStrictEqual(sorted(spans), sorted(held))) found.push({ spans, held });
  return found;
}

const sorted = (all: CopiedSpan[]): CopiedSpan[] => all.toSorted((a, b) => (a.key < b.key ? -1 : 1));

async function copiedTrades({ db }: Postgres, key: string): Promise<CopiedTrade[]> {
  const rows = rowsOf(
    await db.execute(sql`
      SELECT row_to_json(t) AS trade FROM (
        SELECT *, key::text AS own, trade_order::text AS place, price::text AS cost, size::text AS amount, quote_usd::text AS paid FROM present_trades WHERE key = ${key}::bigint
        ORDER BY executed_us DESC, trade_order DESC, id_tx DESC, id DESC
      ) AS t`),
  );
  return rows.map(({ trade }) => {
    // Numbers of JSON lose digits.
    const { own, place, cost, amount, paid, ...rest } = trade as Record<string, unknown>;
    return CopiedTrade.parse({ ...rest, key: own, trade_order: place, price: cost, size: amount, quote_usd: paid });
  });
}
