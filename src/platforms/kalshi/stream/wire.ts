import { z } from 'zod';
import { isTradePrice, wireLevelSize, wirePrice, wireSize } from '../../parse-rows.ts';

/** Frames of Kalshi's socket, reduced to the fields that are used. */

/** Envelope of every frame. `seq` counts the frames of a `sid`, including answers to commands; tickers have none. */
export const envelope = z.object({
  type: z.string(),
  sid: z.number().int().positive().optional(),
  seq: z.number().int().positive().optional(),
  msg: z.unknown().optional(),
  /** Unix ms; the only time of a snapshot. */
  sending_ts_ms: z.number().int().positive().optional().catch(undefined),
});
export type Frame = z.output<typeof envelope>;

export const subscribedMsg = z.object({ channel: z.string(), sid: z.number().int().positive() });
/** `tickers`: the markets concerned; absent if not reported. */
export const errorMsg = z
  .object({
    code: z.number(),
    msg: z.string().catch(''),
    market_ticker: z.string().optional().catch(undefined),
    market_tickers: z.array(z.string()).optional().catch(undefined),
  })
  .transform(({ code, msg, market_ticker: one, market_tickers: many }) => ({
    code,
    msg,
    tickers: many ?? (one === undefined ? [] : [one]),
  }));
/** Answer of list_subscriptions. */
export const listMsg = z.array(subscribedMsg);

const ticker = z.string().min(1).max(200);
/** Unix ms. */
const time = z.number().int().positive();
const price = wirePrice.refine(isTradePrice, 'expected a price of 0 to 1');

export const tradeMsg = z.object({ market_ticker: ticker });

const size = wireLevelSize.nullish().transform((given) => given ?? null);

/** 0 for a bid, 1 for an ask: that side is empty. A price of 0 or none: never traded. Sizes are null if not reported. */
export const tickerMsg = z.object({
  market_ticker: ticker,
  price_dollars: z
    .union([z.literal('').transform(() => 0n), price])
    .nullish()
    .transform((given) => given ?? 0n),
  yes_bid_dollars: price,
  yes_ask_dollars: price,
  yes_bid_size_fp: size,
  yes_ask_size_fp: size,
  /** Cumulative. */
  volume_fp: wireSize.optional().catch(undefined),
  ts_ms: time,
});
export type TickerMsg = z.output<typeof tickerMsg>;

export const lifecycleMsg = z.object({ market_ticker: ticker, event_type: z.string() });

const levels = z.array(z.tuple([price, wireLevelSize]).rest(z.unknown())).nullish();
/** Fields common to all book frames. */
export const bookMsg = z.object({ market_ticker: ticker });

/** A side without orders is absent or null. NO levels are in YES prices, as subscribed. */
export const snapshotMsg = bookMsg.extend({ yes_dollars_fp: levels, no_dollars_fp: levels });

/** `delta_fp` is the change of the size, negative for a decrease. */
export const deltaMsg = bookMsg.extend({
  price_dollars: price,
  delta_fp: wireSize,
  side: z.enum(['yes', 'no']),
  ts_ms: time,
});
