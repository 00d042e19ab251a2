import type { Price, Size } from '../../../core/decimal.ts';
import { Cache } from '../../../core/cache.ts';
import { quotedPrice } from '../../market-fields.ts';
import { BadFrame, type SocketQuote } from '../../sockets/contract.ts';
import { parseFrame } from '../../sockets/frame.ts';
import type { Feed } from './session.ts';
import { tickerMsg, type TickerMsg } from './wire.ts';

/** Markets whose newest time is remembered. */
const REMEMBERED = 200_000;

/** A side without orders has a price of 0 or 1, or a size of 0. */
const quoted = (price: Price, size: Size | null): Price | null => (size === 0n ? null : quotedPrice(price));

function quoteOf(msg: TickerMsg): SocketQuote {
  const bid = quoted(msg.yes_bid_dollars, msg.yes_bid_size_fp);
  const ask = quoted(msg.yes_ask_dollars, msg.yes_ask_size_fp);
  return {
    ref: msg.market_ticker,
    bid,
    ask,
    bidSize: bid === null ? null : msg.yes_bid_size_fp,
    askSize: ask === null ? null : msg.yes_ask_size_fp,
    ...(msg.price_dollars === 0n ? {} : { price: msg.price_dollars }),
    ...(msg.volume_fp === undefined ? {} : { volume: msg.volume_fp }),
    exchangeAtMs: msg.ts_ms,
  };
}

/** Best prices of the whole platform: one frame per second for each market that moved, without a sequence that would reveal losses. */
export function tickerFeed(): Feed {
  const newest = new Cache<string, number>({ limit: REMEMBERED });
  return {
    start(send) {
      send('subscribe', { channels: ['ticker'] });
    },
    take({ type, msg }, emit) {
      if (type !== 'ticker') throw new BadFrame(`unknown type ${type.slice(0, 60)}`);
      const quote = parseFrame(tickerMsg, msg, type);
      if (quote.ts_ms < (newest.get(quote.market_ticker) ?? 0)) return true;
      newest.set(quote.market_ticker, quote.ts_ms);
      emit({ kind: 'quote', quote: quoteOf(quote) });
      return true;
    },
  };
}
