import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../../core/model.ts';
import { ADDRESS, TX_ID } from '../../core/text.ts';
import type { Postgres } from '../../stores/postgres/client.ts';
import { rowsOf } from '../../stores/postgres/json-row.ts';
import { HELD, MARKET, marketsOfNames, type PresentMarket, toPresentMarket } from '../read.ts';
import { ownKey } from '../rows.ts';
import { type HeldTrade, toTrade, type TradeColumns } from './held-trade.ts';
import { bytesText, FEED_KEY } from './rows.ts';

/** The place of the last trade of a page. */
interface TradePlace {
  atUs: number;
  order: string;
  id: string;
}

/** A page of a market's trades: at most `limit`, older than `after`. */
export interface TapePage {
  after: TradePlace | null;
  limit: number;
}

/** Unix microseconds. */
interface HeldSpan {
  from_us: number;
  to_us: number;
  marker: string;
}

/** The spans in which a market's trades are stored. */
export interface HeldSpans {
  own: HeldSpan | undefined;
  feed: HeldSpan | undefined;
  /** Recorded gaps of the platform's feed, Unix µs. */
  gaps: { fromUs: number; toUs: number }[];
  /** Trades before this, Unix µs, may have been dropped for their age; 0 if none were. */
  keptUs: number;
}

/** A market with its newest trades, newest first. */
export interface HeldTape extends HeldSpans {
  market: PresentMarket;
  /** One trade more than the limit, if there is another page. */
  trades: HeldTrade[];
  /** Whether PostgreSQL has all stored trades of the market; null if that is unknown. */
  isWhole: boolean | null;
  /** Number of stored trades of the market; null if PostgreSQL has not all of them. */
  total: number | null;
}

const LAST = { atUs: 2 ** 53 - 1, order: '0', id: '' };

export const marketNamed = (platform: Platform, name: string): SQL => sql`
  SELECT m.key, m.first_seen_at, ${MARKET}
  FROM present_names AS n JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
  WHERE n.platform = ${platform} AND n.name = ${name}
  ORDER BY n.rank, m.first_seen_at DESC, n.key LIMIT 1`;

/** The market with this stored name, and a page of its trades; null if there is no such market. One statement. */
export async function heldTape(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  name: string,
  { after, limit }: TapePage,
): Promise<HeldTape | null> {
  const { atUs, order, id } = after ?? LAST;
  const [, hash = '0x', rest = id] = TX_ID.exec(id) ?? [];
  const [row] = rowsOf(
    await db.execute(sql`
      WITH market AS (${marketNamed(platform, name)})
      SELECT ${HELD}, f.is_built, tape.from_us, tape.rows,
        ${SPANS},
        (
          SELECT json_agg(json_build_array(
            t.id_tx, t.id, t.tx, t.side, t.outcome, t.outcome_index, t.price::text, t.size::text, t.quote_usd::text,
            (CASE WHEN t.outcome_index = t.series THEN t.price ELSE 1 - t.price END)::text, t.executed_us, t.trade_order::text, t.is_block, t.wallet,
            w.name, w.pseudonym, w.profile_image) ORDER BY t.executed_us DESC, t.trade_order DESC, t.id_tx DESC, t.id DESC)
          FROM (
            SELECT t.* FROM present_trades AS t
            WHERE t.key = m.key AND t.executed_us >= greatest(tape.from_us, f.kept_us) AND t.executed_us <= ${atUs}::bigint
              AND (t.executed_us, t.trade_order, t.id_tx, t.id) < (${atUs}::bigint, ${ownKey(order)}::bigint, ${bytesText(hash)}::bytea, ${rest}::text)
            ORDER BY t.executed_us DESC, t.trade_order DESC, t.id_tx DESC, t.id DESC LIMIT ${limit + 1}
          ) AS t LEFT JOIN present_traders AS w ON w.platform = ${platform} AND w.wallet = t.wallet
        ) AS trades
      FROM market AS m LEFT JOIN present_tapes AS tape USING (key) ${spanJoins(platform)}`),
  );
  if (!row) return null;
  const fromUs = row['from_us'] === null ? null : Number(row['from_us']);
  // With `is_built`, every market with stored trades has a row: a market without a row has no trades.
  const isWhole = fromUs === null ? (row['is_built'] === true ? true : null) : fromUs === 0;
  const market = toPresentMarket(row);
  return {
    market,
    trades: ((row['trades'] as TradeColumns[] | null) ?? []).map(toTrade),
    isWhole,
    // The trades are counted with them, the state later; the state alone counts trades that retention dropped.
    total: isWhole === true ? Math.max(Number(row['rows'] ?? 0), market.trades) : null,
    ...spansOf(row),
  };
}

/** The spans of a key of each platform: a market's own key, or FEED_KEY for the whole feed. One statement. */
export async function heldSpans(
  { db }: Pick<Postgres, 'db'>,
  platforms: readonly Platform[],
  key: string,
): Promise<Map<Platform, HeldSpans>> {
  const rows = rowsOf(
    await db.execute(sql`
      SELECT f.platform, ${SPANS} FROM present_feeds AS f
        LEFT JOIN present_spans AS own ON own.platform = f.platform AND own.key = ${key}::bigint AND own.key <> ${FEED_KEY}::bigint
        LEFT JOIN present_spans AS feed ON feed.platform = f.platform AND feed.key = ${FEED_KEY}::bigint
      WHERE f.platform = ANY(${sql.param(platforms)}::text[])`),
  );
  return new Map(rows.map((row) => [row['platform'] as Platform, spansOf(row)]));
}

export const SPANS = sql.raw(`f.gaps, f.kept_us,
  CASE WHEN own.key IS NOT NULL THEN jsonb_build_object('from_us', own.from_us, 'to_us', own.to_us, 'marker', own.marker) END AS own,
  CASE WHEN feed.key IS NOT NULL THEN jsonb_build_object('from_us', feed.from_us, 'to_us', feed.to_us, 'marker', feed.marker) END AS feed`);

/** Joins the tables that SPANS reads to a market m. */
export const spanJoins = (platform: Platform): SQL => sql`
  LEFT JOIN present_feeds AS f ON f.platform = ${platform}
  LEFT JOIN present_spans AS own ON own.platform = ${platform} AND own.key = m.key
  LEFT JOIN present_spans AS feed ON feed.platform = ${platform} AND feed.key = ${FEED_KEY}::bigint`;

export function spansOf(row: Record<string, unknown>): HeldSpans {
  return {
    own: (row['own'] as HeldSpan | null) ?? undefined,
    feed: (row['feed'] as HeldSpan | null) ?? undefined,
    gaps: ((row['gaps'] as [number, number][] | null) ?? []).map(([from, to]) => ({ fromUs: from, toUs: to })),
    keptUs: Number(row['kept_us'] ?? 0),
  };
}

/** The names of these wallets (0x addresses in lower case), as far as PostgreSQL has them. One statement. */
export async function heldNames(
  { db }: Pick<Postgres, 'db'>,
  wallets: readonly { platform: Platform; wallet: string }[],
): Promise<HeldName[]> {
  const addresses = wallets.filter(({ wallet }) => ADDRESS.test(wallet));
  const rows = rowsOf(
    await db.execute(sql`
      SELECT platform, concat('0x', encode(wallet, 'hex')) AS wallet, name, pseudonym, profile_image FROM present_traders
      WHERE (platform, wallet) IN (
        SELECT * FROM unnest(${sql.param(addresses.map(({ platform }) => platform))}::text[],
          ${sql.param(addresses.map(({ wallet }) => bytesText(wallet)))}::bytea[]))`),
  );
  return rows as unknown as HeldName[];
}

/** A name of a wallet, as last reported by its platform. */
interface HeldName {
  platform: Platform;
  wallet: string;
  name: string;
  pseudonym: string;
  profile_image: string;
}

/** The last trade of a price series. */
interface LastTrade {
  series: number;
  price: string;
  executedUs: number;
}

/** A market with its last trades, block trades left out. */
export interface PricedMarket extends PresentMarket {
  /** The last trade of each series that traded; null if older trades, which PostgreSQL lacks, may have others. */
  last: LastTrade[] | null;
  /** The end of the platform's copied span, Unix microseconds; null if there is none. */
  copiedToUs: number | null;
}

/** The markets with these stored names, by name, with their last trades up to an instant. One statement. */
export async function pricedNamed(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  names: readonly string[],
  atUs: number,
): Promise<Map<string, PricedMarket>> {
  const rows = rowsOf(
    await db.execute(sql`
      WITH found AS (${marketsOfNames(platform, names)})
      SELECT m.name, ${HELD}, feed.to_us,
        CASE WHEN f.is_built THEN coalesce(tape.from_us, 0) ELSE tape.from_us END AS from_us, f.kept_us,
        (
          SELECT json_agg(json_build_array(t.series, (CASE WHEN t.outcome_index = t.series THEN t.price ELSE 1 - t.price END)::text, t.executed_us))
          FROM generate_series(0, CASE WHEN cardinality(m.token_ids) > 2 THEN cardinality(m.token_ids) - 1 ELSE 0 END) AS s (series), LATERAL (
            SELECT t.series, t.outcome_index, t.price, t.executed_us FROM present_trades AS t
            WHERE t.key = m.key AND t.series = s.series AND NOT t.is_block
              AND t.executed_us >= greatest(tape.from_us, f.kept_us) AND t.executed_us <= ${atUs}::bigint
            ORDER BY t.executed_us DESC, t.trade_order DESC LIMIT 1
          ) AS t
        ) AS last
      FROM found AS m LEFT JOIN present_tapes AS tape USING (key) LEFT JOIN present_feeds AS f ON f.platform = ${platform}
        LEFT JOIN present_spans AS feed ON feed.platform = ${platform} AND feed.key = ${FEED_KEY}::bigint`),
  );
  return new Map(rows.map((row) => [String(row['name']), toPriced(row)]));
}

function toPriced(row: Record<string, unknown>): PricedMarket {
  const market = toPresentMarket(row);
  const last = ((row['last'] as [number, string, number][] | null) ?? []).map(
    ([series, price, executedUs]): LastTrade => ({ series, price, executedUs }),
  );
  const isAll = row['from_us'] !== null && Number(row['from_us']) === 0 && Number(row['kept_us']) === 0;
  const isFull = market.tokenIds.length <= 2 ? last.length > 0 : last.length === market.tokenIds.length;
  return {
    ...market,
    last: isAll || isFull ? last : null,
    copiedToUs: row['to_us'] === null ? null : Number(row['to_us']),
  };
}

/** Whether all trades up to an instant (ISO-8601; null if none is known) were copied with their spans. */
export const isUpTo = (freshTo: string | null, { feed }: HeldSpans): boolean =>
  freshTo === null || (feed?.to_us ?? 0) >= Date.parse(freshTo) * 1000;
