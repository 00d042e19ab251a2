import { sql } from 'drizzle-orm';
import type { Platform } from '../../core/model.ts';
import type { Postgres } from '../../stores/postgres/client.ts';
import { rowsOf } from '../../stores/postgres/json-row.ts';
import { type PresentMarket, toMarket } from '../read.ts';
import { ownKey, storeKey } from '../rows.ts';
import { bytesText, FEED_KEY } from './rows.ts';

/** A trade as pages show it. */
export interface HeldTrade {
  trade_id: string;
  side: 'buy' | 'sell';
  outcome: string;
  outcome_index: number;
  transaction_hash: string;
  price: string;
  size: string;
  series_price: string;
  executed_at_us: number;
  /** As in ClickHouse. */
  trade_order: string;
  is_block: boolean;
  wallet: string;
  /** null if the wallet has no stored name. */
  trader: { name: string; pseudonym: string; profile_image: string } | null;
}

/** The last trade of a page, by its place. */
export interface TradePlace {
  atUs: number;
  order: string;
  id: string;
}

/** A page of a market's trades: how many, after which one. */
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

/** A market with its newest trades, newest first, and the spans in which trades are stored. */
export interface HeldTape {
  market: PresentMarket;
  /** One more than asked for, if there are more. */
  trades: HeldTrade[];
  /** Whether the market's older stored trades are here too; null if it is not known what is here. */
  isWhole: boolean | null;
  own: HeldSpan | undefined;
  feed: HeldSpan | undefined;
  /** What is missing from the platform's feed. */
  gaps: { fromUs: number; toUs: number }[];
}

/** A trade id that begins with the hash of its transaction. */
const TX_ID = /^(0x[0-9a-f]{64})-(.+)$/;
const LAST = { atUs: 2 ** 53 - 1, order: '0', id: '' };

/** The market that has this name (as stored), and a page of its newest trades after a place; null if there is no such market. One statement. */
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
      WITH market AS (
        SELECT m.key, m.ref, m.token_ids, m.info, s.state, s.trades AS stored, s.unique_traders, s.traded_since
        FROM present_names AS n JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
        WHERE n.platform = ${platform} AND n.name = ${name}
        ORDER BY n.rank, m.first_seen_at DESC, n.key LIMIT 1
      )
      SELECT m.ref, m.token_ids, m.info, m.state, m.stored, m.unique_traders, m.traded_since, f.is_built, f.gaps, tape.from_us,
        CASE WHEN own.key IS NOT NULL THEN jsonb_build_object('from_us', own.from_us, 'to_us', own.to_us, 'marker', own.marker) END AS own,
        CASE WHEN feed.key IS NOT NULL THEN jsonb_build_object('from_us', feed.from_us, 'to_us', feed.to_us, 'marker', feed.marker) END AS feed,
        (
          SELECT json_agg(json_build_array(
            t.id_tx, t.id, t.tx, t.side, t.outcome, t.outcome_index, t.price::text, t.size::text,
            (CASE WHEN t.outcome_index = t.series THEN t.price ELSE 1 - t.price END)::text, t.executed_us, t.trade_order::text, t.is_block, t.wallet,
            w.name, w.pseudonym, w.profile_image))
          FROM (
            SELECT t.* FROM present_trades AS t
            WHERE t.key = m.key AND t.executed_us >= greatest(tape.from_us, f.kept_us) AND t.executed_us <= ${atUs}::bigint
              AND (t.executed_us, t.trade_order, t.id_tx, t.id) < (${atUs}::bigint, ${ownKey(order)}::bigint, ${bytesText(hash)}::bytea, ${rest}::text)
            ORDER BY t.executed_us DESC, t.trade_order DESC, t.id_tx DESC, t.id DESC LIMIT ${limit + 1}
          ) AS t LEFT JOIN present_traders AS w ON w.platform = ${platform} AND w.wallet = t.wallet
        ) AS trades
      FROM market AS m LEFT JOIN present_tapes AS tape USING (key) LEFT JOIN present_feeds AS f ON f.platform = ${platform}
        LEFT JOIN present_spans AS own ON own.platform = ${platform} AND own.key = m.key
        LEFT JOIN present_spans AS feed ON feed.platform = ${platform} AND feed.key = ${FEED_KEY}::bigint`),
  );
  if (!row) return null;
  const fromUs = row['from_us'] === null ? null : Number(row['from_us']);
  return {
    market: toMarket(row),
    trades: ((row['trades'] as TradeColumns[] | null) ?? []).map(toTrade),
    // Without a row, a market has no stored trades, once all with trades have rows.
    isWhole: fromUs === null ? (row['is_built'] === true ? true : null) : fromUs === 0,
    own: (row['own'] as HeldSpan | null) ?? undefined,
    feed: (row['feed'] as HeldSpan | null) ?? undefined,
    gaps: ((row['gaps'] as [number, number][] | null) ?? []).map(([from, to]) => ({ fromUs: from, toUs: to })),
  };
}

type TradeColumns = [
  idTx: string,
  id: string,
  tx: string | null,
  side: 'buy' | 'sell',
  outcome: string,
  outcomeIndex: number,
  price: string,
  size: string,
  seriesPrice: string,
  executedUs: number,
  order: string,
  isBlock: boolean,
  wallet: string | null,
  name: string | null,
  pseudonym: string | null,
  profileImage: string | null,
];

/** `\x…`, PostgreSQL's text of bytes, as 0x…; '' for none. */
const hexText = (bytes: string | null): string => (bytes === null || bytes === '\\x' ? '' : `0x${bytes.slice(2)}`);

function toTrade(columns: TradeColumns): HeldTrade {
  const [idTx, id, tx, side, outcome, index, price, size, series, us, order, isBlock, wallet, name, pseudonym, image] =
    columns;
  const hash = hexText(idTx);
  return {
    trade_id: hash === '' ? id : `${hash}-${id}`,
    side,
    outcome,
    outcome_index: index,
    transaction_hash: hash === '' ? hexText(tx) : hash,
    price,
    size,
    series_price: series,
    executed_at_us: us,
    trade_order: storeKey(order),
    is_block: isBlock,
    wallet: hexText(wallet),
    trader: name === null ? null : { name, pseudonym: pseudonym ?? '', profile_image: image ?? '' },
  };
}
