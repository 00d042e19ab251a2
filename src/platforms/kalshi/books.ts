import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import type { OrderBook } from '../../core/model.ts';
import type { ReadContext, StoredMarket } from '../contract.ts';
import { parseBody, parseRow } from '../parse-rows.ts';
import { bookFor } from '../partial-book.ts';
import { readHalved } from '../read-items.ts';
import { mapKalshiBook } from './book.ts';
import type { KalshiClient } from './client.ts';
import { KalshiOrderBook } from './wire.ts';
import { partsOf } from '../../core/parts.ts';

const BOOKS_PER_REQUEST = 100;

const Books = z.object({ orderbooks: z.array(z.unknown()) });
const Ticker = z.looseObject({ ticker: z.string() });
const about = { platform: 'kalshi', kind: 'book', idKey: 'ticker' } as const;

/** Live books by ticker, up to a hundred per call. The reply omits archived and unknown tickers. */
export async function readKalshiBooks(
  client: KalshiClient,
  markets: readonly StoredMarket[],
  context: ReadContext,
): Promise<Map<string, OrderBook | PlatformError>> {
  const found = new Map<string, OrderBook | PlatformError>();
  const byTicker = new Map(markets.map((market) => [market.ref, market]));
  const read = async (part: readonly StoredMarket[], own: ReadContext): Promise<void> => {
    const tickers = part.map(({ ref }) => `tickers=${encodeURIComponent(ref)}`).join('&');
    const reply = await client.get(`/markets/orderbooks?${tickers}`, {}, own);
    for (const raw of parseBody('kalshi', Books, reply).orderbooks) {
      const market = byTicker.get(Ticker.safeParse(raw).data?.ticker ?? '');
      if (!market) continue;
      const book = parseRow(KalshiOrderBook, raw, about, context);
      const unreadable = new PlatformError('kalshi', 'bad_answer', { detail: `order book of ${market.ref}` });
      found.set(
        market.ref,
        book ? bookFor(own, mapKalshiBook(market, book.row, book.raw, reply.receivedAt)) : unreadable,
      );
    }
  };
  for (const part of partsOf(markets, BOOKS_PER_REQUEST)) {
    const failed = await readHalved(part, context, read);
    for (const [{ ref }, error] of failed) found.set(ref, error);
  }
  return found;
}
