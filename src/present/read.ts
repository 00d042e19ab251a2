import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { ownKey, storeKey, UNKNOWN_END_MS } from './rows.ts';

/** A copied market. `info` and `state` are JSON texts, as in `rows.ts`. */
export interface PresentMarket {
  ref: string;
  tokenIds: string[];
  info: string;
  state: string;
  /** Takers among its stored trades, and since when these are stored; null if the trades name none. */
  traders: { count: number; since: string } | null;
  /** Number of its stored trades. */
  trades: number;
}

/**
 * A comparison with names. A single name is compared with `=`, so that PostgreSQL keeps one plan: for an array it makes one each time, which
 * takes longer than the look-up.
 */
const isOneOf = (names: readonly string[]): SQL =>
  names.length === 1 ? sql`= ${names[0]}` : sql`= ANY(${sql.param(names)}::text[])`;

/** The columns that `toPresentMarket` reads, of present_markets AS m and present_states AS s. */
export const MARKET = sql.raw(
  'm.ref, m.token_ids, m.info, s.state, s.trades AS stored, s.unique_traders, s.traded_since',
);
/** The same columns of a subquery m that selects them. */
export const HELD = sql.raw('m.ref, m.token_ids, m.info, m.state, m.stored, m.unique_traders, m.traded_since');

/** The markets with these stored names, each with its name and key. */
export const marketsOfNames = (platform: Platform, names: readonly string[]): SQL => sql`
  SELECT DISTINCT ON (n.name) n.name, m.key, ${MARKET}
  FROM present_names AS n JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
  WHERE n.platform = ${platform} AND n.name ${isOneOf(names)}
  ORDER BY n.name, n.rank, m.first_seen_at DESC, n.key`;

/** The markets that have these names (references, platform ids, tokens, slugs, as stored), by name. One statement. */
export async function marketsNamed(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  names: readonly string[],
): Promise<Map<string, PresentMarket>> {
  if (names.length === 0) return new Map();
  const rows = rowsOf(await db.execute(marketsOfNames(platform, names)));
  return new Map(rows.map((row) => [String(row['name']), toPresentMarket(row)]));
}

/** The market that each platform has under the name given for it (as stored). One statement. */
export async function marketsOnPlatforms(
  { db }: Pick<Postgres, 'db'>,
  names: ReadonlyMap<Platform, string>,
): Promise<Map<Platform, PresentMarket>> {
  if (names.size === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT DISTINCT ON (n.platform) n.platform, ${MARKET}
      FROM unnest(${sql.param([...names.keys()])}::text[], ${sql.param([...names.values()])}::text[]) AS asked (platform, name)
      JOIN present_names AS n USING (platform, name) JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
      ORDER BY n.platform, n.rank, m.first_seen_at DESC, n.key`),
  );
  return new Map(rows.map((row) => [row['platform'] as Platform, toPresentMarket(row)]));
}

/** The platform ids of the markets of an event, given by its id or slug, at most `limit`. One statement. */
export async function idsOfEvent(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  name: string,
  limit: number,
): Promise<string[]> {
  const rows = rowsOf(
    await db.execute(sql`
      SELECT m.platform_id FROM (
        SELECT ${name}::text AS id
        UNION SELECT id FROM present_events WHERE platform = ${platform} AND slug = ${name} AND slug <> ''
      ) AS e JOIN present_ranks AS r ON r.platform = ${platform} AND r.event_id = e.id JOIN present_markets AS m USING (key)
      ORDER BY m.platform_id COLLATE "C" LIMIT ${limit}`),
  );
  return rows.map((row) => String(row['platform_id']));
}

/** The markets of these keys, as in ClickHouse, by key. One statement. */
export async function marketsOfKeys(
  { db }: Pick<Postgres, 'db'>,
  keys: readonly string[],
): Promise<Map<string, PresentMarket>> {
  if (keys.length === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT key, ${MARKET}
      FROM present_markets AS m JOIN present_states AS s USING (key) WHERE key = ANY(${sql.param(keys.map(ownKey))}::bigint[])`),
  );
  return new Map(rows.map((row) => [storeKey(String(row['key'])), toPresentMarket(row)]));
}

/** A row of present_markets with its state. */
export function toPresentMarket(row: Record<string, unknown>): PresentMarket {
  const count = row['unique_traders'];
  return {
    ref: row['ref'] as string,
    tokenIds: row['token_ids'] as string[],
    info: row['info'] as string,
    state: row['state'] as string,
    traders:
      count === null ? null : { count: Number(count), since: new Date(row['traded_since'] as string).toISOString() },
    trades: Number(row['stored']),
  };
}

/** A copied event: its facts as JSON text, and sums over its markets. */
export interface PresentEvent {
  info: string;
  figures: EventFigures;
  /** Platform ids of its markets, by length and text. */
  marketIds: string[];
}

/** A market of an event, and whether lists show it: 0, or 1 for a placeholder, 2 for a combination, 3 for both. */
type EventMarket = PresentMarket & { hidden: number };

/** The event that has this id, else this slug (as stored), with all of its markets; null if it is not copied. One statement. */
export async function eventNamed(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  name: string,
): Promise<{ info: string; markets: EventMarket[] } | null> {
  const rows = rowsOf(
    await db.execute(sql`
      WITH event AS (
        SELECT platform, id, info FROM present_events
        WHERE platform = ${platform} AND (id = ${name} OR (slug = ${name} AND slug <> '')) ORDER BY id = ${name} DESC, key LIMIT 1
      )
      SELECT e.info AS event, r.hidden, ${MARKET}
      FROM event AS e JOIN present_ranks AS r ON r.platform = e.platform AND r.event_id = e.id
        JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)`),
  );
  const [first] = rows;
  if (!first) return null;
  const markets = rows.map((row) => Object.assign(toPresentMarket(row), { hidden: Number(row['hidden']) }));
  return { info: String(first['event']), markets };
}

/** A copied series. */
export interface PresentSeries {
  info: string;
  events: number;
  openEvents: number;
}

/** Sums over the markets of an event; amounts in millionths, null where unknown. */
export interface EventFigures {
  status: string;
  markets: number;
  openMarkets: number;
  volume24h: bigint | null;
  volumeTotal: bigint | null;
  liquidity: bigint | null;
  endMs: number | null;
  usd: Record<UsdSpan, { amount: bigint | null; markets: number }>;
}
export type UsdSpan = 'volume_24h' | 'volume_7d' | 'volume_total' | 'liquidity';

const amountOf = (value: unknown): bigint | null => (BigInt(String(value)) > 0n ? null : -BigInt(String(value)));

/** A row of present_event_sums. */
function figuresOf(row: Record<string, unknown>): EventFigures {
  const usd = (amount: string, known: string) => ({ amount: amountOf(row[amount]), markets: Number(row[known]) });
  const endMs = Number(row['by_end_date']);
  return {
    status: String(row['status']),
    markets: Number(row['markets']),
    openMarkets: Number(row['open_markets']),
    volume24h: amountOf(row['by_volume_24h']),
    volumeTotal: amountOf(row['by_volume_total']),
    liquidity: row['liquidity_known'] === true ? amountOf(row['by_liquidity']) : null,
    endMs: endMs === UNKNOWN_END_MS ? null : endMs,
    usd: {
      volume_24h: usd('by_volume_24h_usd', 'known_24h'),
      volume_7d: usd('by_volume_7d_usd', 'known_7d'),
      volume_total: usd('by_volume_total_usd', 'known_total'),
      liquidity: usd('by_liquidity_usd', 'known_liquidity'),
    },
  };
}

/** A row of present_events with its sums and the ids of its markets. */
export const toPresentEvent = (row: Record<string, unknown>): PresentEvent => ({
  info: row['info'] as string,
  figures: figuresOf(row),
  marketIds: row['ids'] as string[],
});

/** Sums over the markets of these events, by their id. One statement. */
export async function sumsOfEvents(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  ids: readonly string[],
): Promise<Map<string, EventFigures>> {
  if (ids.length === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT asked.id, f.* FROM unnest(${sql.param(ids)}::text[]) AS asked (id), present_event_sums(${platform}, asked.id) AS f`),
  );
  return new Map(rows.map((row) => [String(row['id']), figuresOf(row)]));
}

/**
 * Platform ids of the listed markets of events whose first outcome has the highest price, at most `limit` of each, by event id. One
 * statement.
 */
export async function leadersOfEvents(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  ids: readonly string[],
  limit: number,
): Promise<Map<string, string[]>> {
  if (ids.length === 0 || limit === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT asked.id, ARRAY(
        SELECT m.platform_id
        FROM present_ranks AS r JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
        WHERE r.platform = ${platform} AND r.event_id = asked.id AND r.hidden = 0
        ORDER BY (s.state::json->'prices'->>0)::numeric DESC NULLS LAST, m.platform_id COLLATE "C" LIMIT ${limit}
      ) AS leaders FROM unnest(${sql.param(ids)}::text[]) AS asked (id)`),
  );
  return new Map(rows.map((row) => [String(row['id']), row['leaders'] as string[]]));
}
