import type { z } from 'zod';
import type { OrderBookAnswer } from '../schemas/order-book.ts';
import { decimalNumber, parseSize, PRICE_SCALE, SIZE_SCALE } from '../core/decimal.ts';
import { PlatformError, toApiError } from '../core/errors.ts';
import type { PlatformData, ReadContext, StoredMarket } from '../platforms/contract.ts';
import type { BookSide, OrderBook, Platform } from '../core/model.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Live books may be this old. */
const BOOK_MS = 1000;
/** Markets of one call that are read at the same time, where a platform has no batch call. */
const AT_ONCE = 2;

const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

export type BookAnswer = z.infer<typeof OrderBookAnswer>['data'];

/** Where live books are read from, and who shares them. */
interface BookSource {
  platforms: Partial<Record<Platform, PlatformData>>;
  shared: Pick<Shared, 'cached'>;
  now: () => number;
}

/** A closed or settled market has no book to read. */
const isTrading = ({ status }: StoredMarket): boolean => status !== 'closed' && status !== 'settled';
const receivedAt = ({ now }: BookSource): string => new Date(now()).toISOString();

/** The live book of one market. Concurrent callers share one request; throws PlatformError. */
export function liveBook(
  source: BookSource,
  market: StoredMarket,
  context: ReadContext,
): Promise<{ value: BookAnswer; hit: boolean }> {
  const data = source.platforms[market.platform];
  return source.shared.cached(`book:${market.platform}:${market.ref}`, BOOK_MS, async () => {
    const book = isTrading(market) && data ? await data.orderBook(market, context) : null;
    return toOrderBook(market, book, receivedAt(source));
  });
}

/** A market whose book could not be read, as the market alone would have been answered. */
export interface BookError {
  market_id: string;
  status: number;
  message: string;
}

/**
 * Live books in the order of the markets, all of one platform; those that could not be read are errors. `hit`: nothing was asked of
 * the platform. Throws PlatformError when there is nothing but errors.
 */
export async function liveBooks(
  source: BookSource,
  platform: Platform,
  markets: readonly StoredMarket[],
  context: ReadContext,
): Promise<{ books: BookAnswer[]; errors: BookError[]; hit: boolean }> {
  const found = new Map<string, BookAnswer>();
  const failed = new Map<string, PlatformError>();
  let hit = true;
  const read = source.platforms[platform]?.orderBooks ? batchOf(source, platform) : oneByOne(source);
  const trading = markets.filter(isTrading);
  for (const market of markets)
    if (!isTrading(market)) found.set(market.ref, toOrderBook(market, null, receivedAt(source)));
  await read(trading, context, (market, book, kept) => {
    hit &&= kept;
    if (book instanceof PlatformError) failed.set(market.ref, book);
    else found.set(market.ref, book);
  });
  const [first] = failed.values();
  if (first && found.size === 0) throw first;
  return {
    books: markets.flatMap(({ ref }) => found.get(ref) ?? []),
    errors: markets.flatMap((market) => {
      const error = failed.get(market.ref);
      return error ? [toBookError(market, toApiError(error))] : [];
    }),
    hit,
  };
}

type Take = (market: StoredMarket, book: BookAnswer | PlatformError, kept: boolean) => void;
type ReadBooks = (markets: readonly StoredMarket[], context: ReadContext, take: Take) => Promise<void>;

/** Through the platform's batch call; what failed in it is asked for again at the next call, not kept. */
function batchOf(source: BookSource, platform: Platform): ReadBooks {
  return async (markets, context, take) => {
    const data = source.platforms[platform];
    if (markets.length === 0 || !data?.orderBooks) return;
    const readAll = data.orderBooks.bind(data);
    const failed = new Map<string, PlatformError>();
    try {
      const key = `books:${platform}:${markets.map(({ ref }) => ref).join()}`;
      const { value, hit } = await source.shared.cached(key, BOOK_MS, async () => {
        const books = await readAll(markets, context);
        return markets.map((market): BookAnswer | BookFailure => {
          const book = books.get(market.ref) ?? null;
          if (book instanceof PlatformError) failed.set(market.ref, book);
          return book instanceof PlatformError
            ? { failed: book.detail }
            : toOrderBook(market, book, receivedAt(source));
        });
      });
      for (const [at, market] of markets.entries()) {
        const book = value[at];
        if (book === undefined) continue;
        if ('failed' in book) {
          take(
            market,
            failed.get(market.ref) ?? new PlatformError(platform, 'bad_answer', { detail: book.failed }),
            hit,
          );
        } else take(market, book, hit);
      }
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      for (const market of markets) take(market, error, false);
    }
  };
}

interface BookFailure {
  failed: string;
}

function oneByOne(source: BookSource): ReadBooks {
  return async (markets, context, take) => {
    const waiting = [...markets];
    const lane = async (): Promise<void> => {
      for (let market = waiting.shift(); market; market = waiting.shift()) {
        try {
          const { value, hit } = await liveBook(source, market, context);
          take(market, value, hit);
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error;
          take(market, error, false);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };
}

const toBookError = (market: StoredMarket, { status, message }: { status: number; message: string }): BookError => ({
  market_id: market.platformId,
  status,
  message,
});

/** A live book as the endpoint answers it; no book (closed, AMM) is an empty one. */
export function toOrderBook(market: StoredMarket, book: OrderBook | null, receivedAt: string): BookAnswer {
  const facts = market.metadata;
  return {
    market_id: market.platformId,
    platform: market.platform,
    timestamp: book?.timestamp ?? receivedAt,
    yes: side(book?.yes),
    no: side(book?.no),
    metadata: {
      min_order_size:
        book?.minOrderSize == null ? number(facts['min_order_size']) : decimalNumber(book.minOrderSize, SIZE_SCALE),
      tick_size: book?.tickSize == null ? number(facts['tick_size']) : decimalNumber(book.tickSize, PRICE_SCALE),
      neg_risk: book?.negRisk ?? facts['neg_risk'] === true,
    },
    ...(book ? { raw_data: book.raw } : {}),
  };
}

const shown = (levels: BookSide['bids']): { price: number; size: number }[] =>
  levels.map(({ price, size }) => ({
    price: decimalNumber(price, PRICE_SCALE),
    size: decimalNumber(size, SIZE_SCALE),
  }));

function side(levels: BookSide | undefined): BookAnswer['yes'] {
  const { bids = [], asks = [] } = levels ?? {};
  const depth = [...bids, ...asks].reduce((sum, level) => sum + level.size, 0n);
  return { bids: shown(bids), asks: shown(asks), depth: decimalNumber(depth, SIZE_SCALE) };
}

/** The book with at most `levels` levels a side; `depth` is of those shown. */
export function cutBook(book: BookAnswer, levels: number): BookAnswer {
  const cut = ({ bids, asks, depth }: BookAnswer['yes']): BookAnswer['yes'] => {
    if (bids.length <= levels && asks.length <= levels) return { bids, asks, depth };
    const left = { bids: bids.slice(0, levels), asks: asks.slice(0, levels) };
    const sum = [...left.bids, ...left.asks].reduce((total, level) => total + parseSize(level.size), 0n);
    return { ...left, depth: decimalNumber(sum, SIZE_SCALE) };
  };
  return { ...book, yes: cut(book.yes), no: cut(book.no) };
}
