import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { priceText, sizeText, usdText } from '../../core/decimal.ts';
import { seriesOf, takerOf, type TradeRecord } from '../../core/model.ts';
import { packTradeId } from '../../stores/clickhouse/insert-rows.ts';
import { ownKey } from '../rows.ts';

/** A row of present_trades, and of the queries that read it from ClickHouse. Bytes are text in PostgreSQL's form, `\x…`. */
export const CopiedTrade = z.object({
  key: z.string(),
  executed_us: z.coerce.number(),
  trade_order: z.string(),
  id_tx: z.string(),
  id: z.string(),
  tx: z.string().nullable(),
  outcome: z.string(),
  outcome_index: z.number(),
  series: z.number(),
  side: z.string(),
  price: z.string(),
  size: z.string(),
  quote_usd: z.string().nullable(),
  wallet: z.string().nullable(),
  is_block: z.boolean(),
});
export type CopiedTrade = z.infer<typeof CopiedTrade>;

/** The columns of a row, for `FROM jsonb_to_recordset(…) AS r(…)`. */
export const TRADE_ROW =
  'key bigint, executed_us bigint, trade_order bigint, id_tx bytea, id text, tx bytea, outcome text, outcome_index smallint, series smallint, side text, price numeric, size numeric, quote_usd numeric, wallet bytea, is_block boolean';
export const TRADE_NAMES = CopiedTrade.keyof().options.join(', ');

/** price × size of a row of present_trades, in USD with 6 decimals, rounded half to even as `notional` of ClickHouse. */
export const NOTIONAL = sql.raw(
  'CASE WHEN mod(price * size * 1000000, 1) = 0.5 THEN 2 * round(price * size * 500000) ELSE round(price * size * 1000000) END * 0.000001',
);

/** A name as present_traders has it, and the query that reads it from ClickHouse. */
export const CopiedName = z.object({
  wallet: z.string(),
  name: z.string(),
  pseudonym: z.string(),
  profile_image: z.string(),
  seen_at: z.string(),
});
export type CopiedName = z.infer<typeof CopiedName>;

/** A row of sql/queries/present_spans.sql. */
export const CopiedSpan = z.object({
  key: z.string(),
  from_us: z.coerce.number(),
  to_us: z.coerce.number(),
  marker: z.string(),
  version_us: z.coerce.number(),
});
export type CopiedSpan = z.infer<typeof CopiedSpan>;

/** The key of the span of a platform's whole feed. */
export const FEED_KEY = ownKey('0');

/** Bytes given as 0x…, in PostgreSQL's form. */
export const bytesText = (hex: string): string => `\\x${hex.slice(2)}`;

/** A stored trade as it is copied. */
export function copiedTrade(trade: TradeRecord, key: string): CopiedTrade {
  const { form, text, order } = packTradeId(trade);
  const hash = trade.transactionHash === '' ? null : bytesText(trade.transactionHash);
  const wallet = takerOf(trade);
  return {
    key,
    executed_us: trade.executedAtUs,
    trade_order: ownKey(String(order)),
    id_tx: form === 'tx' && hash !== null ? hash : '\\x',
    id: text,
    tx: form === 'tx' ? null : hash,
    outcome: trade.outcome,
    outcome_index: trade.outcomeIndex,
    series: seriesOf(trade),
    side: trade.side,
    price: priceText(trade.price),
    size: sizeText(trade.size),
    quote_usd: trade.quoteUsd === null ? null : usdText(trade.quoteUsd),
    wallet: wallet === '' ? null : bytesText(wallet),
    is_block: trade.isBlockTrade,
  };
}

/** Trades by market, in the given order. */
export function tradesByKey(trades: readonly CopiedTrade[]): Map<string, CopiedTrade[]> {
  const found = new Map<string, CopiedTrade[]>();
  for (const trade of trades) {
    const own = found.get(trade.key);
    if (own) own.push(trade);
    else found.set(trade.key, [trade]);
  }
  return found;
}
