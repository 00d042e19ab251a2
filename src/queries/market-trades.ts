import { MANIFESTS } from '../platforms/manifests.ts';
import { z } from 'zod';
import type { MarketTradeAnswer } from '../schemas/markets.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { storedTrades } from '../markets/trade-history.ts';
import type { CurrentTape } from '../markets/present-markets.ts';
import type { TraderName, TraderNames } from './trader-names.ts';
import { microsecondText } from '../stores/clickhouse/insert-rows.ts';

/** The last trade of a page; the next page begins after it. */
export const TradePosition = z.object({ atUs: z.number(), order: z.string(), id: z.string(), total: z.number() });
export type TradePosition = z.infer<typeof TradePosition>;

const TradeRow = z.object({
  trade_id: z.string(),
  side: z.enum(['buy', 'sell']),
  outcome: z.string(),
  outcome_index: z.number(),
  transaction_hash: z.string(),
  price: z.string(),
  size: z.string(),
  quote_usd: z.string().nullable(),
  series_price: z.string(),
  executed_at_us: z.coerce.number(),
  trade_order: z.string(),
  is_block: z.boolean(),
  wallet: z.string(),
});
/** The fields of a stored trade that answers show. */
export type TradeRow = Omit<z.infer<typeof TradeRow>, 'trade_order'>;

/** A page of a market's stored trades, newest first, with their traders and where the next page begins. */
interface TradePage {
  rows: z.infer<typeof TradeRow>[];
  traderOf: (row: { wallet: string }) => TraderName | undefined;
  total: number;
  next: TradePosition | null;
}

export async function tradePage(
  { clickhouse, traderNames }: { clickhouse: ClickHouse; traderNames: TraderNames },
  { platform, ref }: Pick<StoredMarket, 'platform' | 'ref'>,
  after: TradePosition | null,
  limit: number,
): Promise<TradePage> {
  const [found, counted] = await Promise.all([
    clickhouse.query('market_trades', TradeRow, {
      platform,
      ref,
      before: after ? microsecondText(after.atUs) : '2199-01-01 00:00:00',
      before_order: after ? BigInt(after.order) : 0n,
      before_id: after?.id ?? '',
      limit: limit + 1,
    }),
    after ? after.total : storedTrades(clickhouse, { platform, ref }),
  ]);
  const wallets = found.slice(0, limit).map(({ wallet }) => ({ platform, wallet }));
  const traderOf = await traderNames.of(wallets);
  return pageOf(found, ({ wallet }) => traderOf({ platform, wallet }), { after, counted, limit });
}

/** A page from the trades in PostgreSQL; null if they do not fill it and ClickHouse may have more. */
export async function heldPage(
  clickhouse: ClickHouse,
  { market, trades, isWhole, total }: CurrentTape,
  after: TradePosition | null,
  limit: number,
): Promise<TradePage | null> {
  if (isWhole === null || (!isWhole && trades.length <= limit)) return null;
  const people = new Map(trades.flatMap(({ wallet, trader }) => (trader === null ? [] : [[wallet, trader]])));
  return pageOf(trades, ({ wallet }) => people.get(wallet), {
    after,
    counted: after?.total ?? total ?? (await storedTrades(clickhouse, market)),
    limit,
  });
}

function pageOf(
  found: TradePage['rows'],
  traderOf: TradePage['traderOf'],
  { after, counted, limit }: { after: TradePosition | null; counted: number; limit: number },
): TradePage {
  const rows = found.slice(0, limit);
  // A trade is visible shortly before the totals include it.
  const total = after ? counted : Math.max(counted, found.length);
  const last = rows.at(-1);
  const next =
    found.length > limit && last
      ? { atUs: last.executed_at_us, order: last.trade_order, id: last.trade_id, total }
      : null;
  return { rows, traderOf, total, next };
}

/** A trade as returned by GET markets/trades. */
export function tradeAnswer(
  row: TradeRow,
  market: StoredMarket,
  trader: TraderName | undefined,
): z.infer<typeof MarketTradeAnswer> {
  const { platform } = market;
  const facts = {
    isBlock: row.is_block,
    seriesPrice: row.series_price,
    quoteUsd: row.quote_usd === null ? null : Number(row.quote_usd),
    tokenId: market.outcomes[row.outcome_index]?.tokenId ?? '',
    conditionId: market.ref,
    wallet: row.wallet,
    sourceUrl: market.sourceUrl,
  };
  const executedAt = { executed_at: new Date(Math.floor(row.executed_at_us / 1000)).toISOString() };
  return {
    trade_id: row.trade_id,
    market_id: market.platformId,
    platform,
    side: row.side,
    outcome: row.outcome,
    price: Number(row.price),
    size: Number(row.size),
    timestamp: Math.floor(row.executed_at_us / 1e6),
    taker: true,
    transaction_hash: row.transaction_hash,
    user: { name: trader?.name ?? '', pseudonym: trader?.pseudonym ?? '', profile_image: trader?.profile_image ?? '' },
    metadata: { ...MANIFESTS[platform].tradeMetadata(facts), ...executedAt },
  };
}
