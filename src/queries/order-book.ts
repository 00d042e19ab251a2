import PQueue from 'p-queue';
import type { z } from 'zod';
import type { Clock } from '../core/time.ts';
import type { OrderBookAnswer } from '../schemas/order-book.ts';
import { decimalNumber, parseSize, PRICE_SCALE, SIZE_SCALE } from '../core/decimal.ts';
import { ApiError, PlatformError, type PlatformErrorKind, platformName, toApiError } from '../core/errors.ts';
import type { PlatformData, ReadContext, StoredMarket } from '../platforms/contract.ts';
import { NoBudgetError } from '../platforms/http/errors.ts';
import { hasBook } from '../platforms/market-fields.ts';
import type { BookSide, OrderBook, Platform } from '../core/model.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Maximum age of live books. */
const BOOK_MS = 1000;
/** Markets of one call that are read concurrently, if the platform has no batch call. */
const AT_ONCE = 2;
/** How long the books of one call may wait for budget, if each is a separate request. */
const BATCH_MS = 60_000;

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

export type BookAnswer = z.infer<typeof OrderBookAnswer>['data'];

/** Sources and caches of live books. */
interface BookSource {
  platforms: Partial<Record<Platform, PlatformData>>;
  shared: Pick<Shared, 'cached'>;
  clock: Clock;
}

/** 404: an empty book would mean that a market that may trade has no liquidity. */
const noBook = ({ platform, platformId }: StoredMarket): ApiError =>
  new ApiError(404, `${platformName(platform)} has no order book for this market now`, {
    resolution: 'Try again later: it may not trade yet, or have just closed.',
    errorText: `${platformId} has no order book`,
  });

const receivedAt = ({ clock }: BookSource): string => new Date(clock.now()).toISOString();

/** The live book of one market. Concurrent callers share one request; throws PlatformError, and a 404 if there is none. */
export async function liveBook(
  source: BookSource,
  market: StoredMarket,
  context: ReadContext,
): Promise<{ value: BookAnswer; hit: boolean }> {
  const { value, hit } = await readBook(source, market, context);
  if (value === null) throw noBook(market);
  return { value, hit };
}

/** The live book of one market; null if it has none. */
function readBook(
  source: BookSource,
  market: StoredMarket,
  context: ReadContext,
): Promise<{ value: BookAnswer | null; hit: boolean }> {
  const data = source.platforms[market.platform];
  return source.shared.cached(`book:${market.platform}:${market.ref}`, BOOK_MS, async () => {
    if (!hasBook(market)) return toOrderBook(market, null, receivedAt(source));
    const book = (await data?.orderBook(market, { ...context, takesPartialBooks: true })) ?? null;
    return answerOf(source, market, book);
  });
}

/** The answer for a requested book: without one, a market that has not opened has an empty book, any other null. */
const answerOf = (source: BookSource, market: StoredMarket, book: OrderBook | null): BookAnswer | null =>
  book || market.status === 'unopened' ? toOrderBook(market, book, receivedAt(source)) : null;

/** A market whose book could not be read, with the error that a call for it alone would get. */
interface BookError {
  market_id: string;
  status: number;
  message: string;
}

/**
 * Live books in the order of the markets, all of one platform; those that could not be read, or do not exist, are errors. `hit`: the
 * platform was not asked.
 */
export async function liveBooks(
  source: BookSource,
  platform: Platform,
  markets: readonly StoredMarket[],
  context: ReadContext,
): Promise<{ books: BookAnswer[]; errors: BookError[]; hit: boolean }> {
  const found = new Map<string, BookAnswer>();
  const failed = new Map<string, PlatformError | ApiError>();
  let hit = true;
  const read = source.platforms[platform]?.orderBooks ? batchOf(source, platform) : oneByOne(source, platform);
  const trading = markets.filter(hasBook);
  for (const market of markets)
    if (!hasBook(market)) found.set(market.ref, toOrderBook(market, null, receivedAt(source)));
  await read(trading, context, (market, book, kept) => {
    hit &&= kept;
    if (book === null) failed.set(market.ref, noBook(market));
    else if (book instanceof PlatformError) failed.set(market.ref, book);
    else found.set(market.ref, book);
  });
  return {
    books: markets.flatMap(({ ref }) => found.get(ref) ?? []),
    errors: markets.flatMap((market) => {
      const error = failed.get(market.ref);
      if (!error) return [];
      return [toBookError(market, error instanceof PlatformError ? toApiError(error) : error)];
    }),
    hit,
  };
}

/** null: the platform has no book for it. */
type Take = (market: StoredMarket, book: BookAnswer | PlatformError | null, kept: boolean) => void;
type ReadBooks = (markets: readonly StoredMarket[], context: ReadContext, take: Take) => Promise<void>;

/** Uses the platform's batch call. Its failures are cached with the books, so that a repeated list is read as a whole. */
function batchOf(source: BookSource, platform: Platform): ReadBooks {
  return async (markets, context, take) => {
    const data = source.platforms[platform];
    if (markets.length === 0 || !data?.orderBooks) return;
    const readAll = data.orderBooks.bind(data);
    try {
      const key = `books:${platform}:${markets.map(({ ref }) => ref).join()}`;
      const { value, hit } = await source.shared.cached(key, BOOK_MS, async () => {
        const books = await readAll(markets, { ...context, takesPartialBooks: true });
        return markets.map((market): BookAnswer | BookFailure | null => {
          const book = books.get(market.ref) ?? null;
          if (book instanceof PlatformError) return toFailure(book);
          return answerOf(source, market, book);
        });
      });
      for (const [at, market] of markets.entries()) {
        const book = value[at];
        if (book === undefined) continue;
        take(market, book && 'failed' in book ? new PlatformError(platform, book.failed, book) : book, hit);
      }
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      for (const market of markets) take(market, error, false);
    }
  };
}

/** A failure in the cache. */
interface BookFailure {
  failed: PlatformErrorKind;
  status: number;
  detail: string;
  retryAfterMs?: number;
}

const toFailure = ({ kind, status, detail, retryAfterMs }: PlatformError): BookFailure => ({
  failed: kind,
  status,
  detail,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

/** Failures that all further books would have in common. */
const WHOLE_PLATFORM: ReadonlySet<PlatformErrorKind> = new Set(['maintenance', 'rate_limited', 'geo_blocked']);

/** Concurrency of batch reads per platform: low, so that callers with a single book get their turn in between. */
const LANES = new Map<Platform, PQueue>();

/** One call per book. The caller's share is taken once for the whole batch; a book without budget is retried until the batch's deadline. */
function oneByOne(source: BookSource, platform: Platform): ReadBooks {
  const { clock } = source;
  return async (markets, context, take) => {
    const lanes = LANES.get(platform) ?? new PQueue({ concurrency: AT_ONCE });
    LANES.set(platform, lanes);
    const deadline = clock.elapsed() + BATCH_MS;
    const waiting = [...markets];
    let charged = false;
    let ended: PlatformError | null = null;
    const readOne = async (market: StoredMarket): Promise<void> => {
      for (;;) {
        if (clock.elapsed() > deadline)
          ended ??= new PlatformError(platform, 'timeout', { detail: `more than ${BATCH_MS} ms for one list` });
        if (ended) return take(market, ended, false);
        try {
          const own = charged ? { ...context, shareTaken: true } : context;
          const { value, hit } = await lanes.add(() => readBook(source, market, own));
          charged ||= !hit;
          return take(market, value, hit);
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error;
          charged ||= error.kind !== 'over_share';
          if (WHOLE_PLATFORM.has(error.kind)) ended = error;
          if (!(error instanceof NoBudgetError)) return take(market, error, false);
          await clock.sleep(error.retryAfterMs ?? 0);
        }
      }
    };
    const lane = async (): Promise<void> => {
      for (let market = waiting.shift(); market; market = waiting.shift()) await readOne(market);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };
}

const toBookError = (market: StoredMarket, { status, message }: { status: number; message: string }): BookError => ({
  market_id: market.platformId,
  status,
  message,
});

/** A live book as returned by the endpoint; no book (closed, AMM) becomes an empty one. */
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
        book?.minOrderSize == null
          ? numberOrNull(facts['min_order_size'])
          : decimalNumber(book.minOrderSize, SIZE_SCALE),
      tick_size: book?.tickSize == null ? numberOrNull(facts['tick_size']) : decimalNumber(book.tickSize, PRICE_SCALE),
      neg_risk: book?.negRisk ?? facts['neg_risk'] === true,
      ...(book && book.leftOut > 0 ? { levels_left_out: book.leftOut } : {}),
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

/** The book cut to `levels` levels per side; `depth` covers the levels shown. */
export function cutBook(book: BookAnswer, levels: number): BookAnswer {
  const cut = ({ bids, asks, depth }: BookAnswer['yes']): BookAnswer['yes'] => {
    if (bids.length <= levels && asks.length <= levels) return { bids, asks, depth };
    const left = { bids: bids.slice(0, levels), asks: asks.slice(0, levels) };
    const sum = [...left.bids, ...left.asks].reduce((total, level) => total + parseSize(level.size), 0n);
    return { ...left, depth: decimalNumber(sum, SIZE_SCALE) };
  };
  return { ...book, yes: cut(book.yes), no: cut(book.no) };
}
