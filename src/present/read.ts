import { sql } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { ownKey, storeKey } from './rows.ts';

/** A copied market. `info` and `state` are JSON texts, as in `rows.ts`. */
export interface PresentMarket {
  ref: string;
  tokenIds: string[];
  info: string;
  state: string;
  /** Takers among its stored trades, and since when these are stored; null if the trades name none. */
  traders: { count: number; since: string } | null;
}

/** The markets that have these names (references, platform ids, tokens, slugs, as stored), by name. One statement. */
export async function marketsNamed(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  names: readonly string[],
): Promise<Map<string, PresentMarket>> {
  if (names.length === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT DISTINCT ON (n.name) n.name, m.ref, m.token_ids, m.info, s.state, s.unique_traders, s.traded_since
      FROM present_names AS n JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
      WHERE n.platform = ${platform} AND n.name = ANY(${sql.param(names)}::text[])
      ORDER BY n.name, n.rank, m.first_seen_at DESC, n.key`),
  );
  return new Map(rows.map((row) => [String(row['name']), toMarket(row)]));
}

/** The markets of these keys, as in ClickHouse, by key. One statement. */
export async function marketsOfKeys(
  { db }: Pick<Postgres, 'db'>,
  keys: readonly string[],
): Promise<Map<string, PresentMarket>> {
  if (keys.length === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT key, m.ref, m.token_ids, m.info, s.state, s.unique_traders, s.traded_since
      FROM present_markets AS m JOIN present_states AS s USING (key) WHERE key = ANY(${sql.param(keys.map(ownKey))}::bigint[])`),
  );
  return new Map(rows.map((row) => [storeKey(String(row['key'])), toMarket(row)]));
}

/** A row of present_markets with its state. */
export function toMarket(row: Record<string, unknown>): PresentMarket {
  const count = row['unique_traders'];
  return {
    ref: row['ref'] as string,
    tokenIds: row['token_ids'] as string[],
    info: row['info'] as string,
    state: row['state'] as string,
    traders:
      count === null ? null : { count: Number(count), since: new Date(row['traded_since'] as string).toISOString() },
  };
}
