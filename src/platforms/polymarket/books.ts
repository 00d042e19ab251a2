import { PlatformError } from '../../core/errors.ts';
import type { OrderBook } from '../../core/model.ts';
import type { ReadContext, StoredMarket } from '../contract.ts';
import { isNotFound, notReached, parseBody, parseRows, type ParsedRow } from '../parse-rows.ts';
import { bookFor } from '../partial-book.ts';
import { readHalved } from '../read-items.ts';
import { mapPolymarketBook } from './book.ts';
import type { PolymarketClient } from './client.ts';
import { positionModule } from './protocol.ts';
import { bareList, clobBook, type ClobBook } from './wire.ts';
import { partsOf } from '../../core/parts.ts';

/** A call takes 500 tokens, two per market. */
const MARKETS_PER_REQUEST = 250;
const NO_BOOK = /no orderbook exists/i;
const BOOK_ROW = {
  platform: 'polymarket',
  kind: 'book',
  idKey: 'asset_id',
  essential: ['asset_id', 'bids', 'asks'],
} as const;

interface BooksReply {
  rows: unknown[];
  receivedAt: string;
}

/**
 * Books by condition. Both tokens of a market are read in one call if that is known to work, so that they are of the same moment; the
 * order of replies is not guaranteed, and tokens without a book are omitted.
 */
export async function readOrderBooks(
  client: PolymarketClient,
  markets: readonly StoredMarket[],
  context: ReadContext,
): Promise<Map<string, OrderBook | PlatformError>> {
  const quoted = markets.filter((market) => tokensOf(market) !== null);
  const listed = quoted.filter(({ ref }) => positionModule(ref) === null);
  const found = new Map<string, OrderBook | PlatformError>();
  const take = async (part: readonly StoredMarket[], read: typeof readBooks, own: ReadContext): Promise<void> => {
    const tokens = part.flatMap((market) => tokensOf(market) ?? []);
    const reply = await read(client, tokens, own).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      // It means that a market of the request has no book; any other 404 concerns the route, not the markets.
      if (!NO_BOOK.test(error.detail)) throw notReached(error);
      if (part.length === 1) return { rows: [], receivedAt: '' };
      throw error;
    });
    const books = parseRows(clobBook, reply.rows, BOOK_ROW, context);
    const byToken = new Map(books.map((book) => [book.row.asset_id, book]));
    const sent = new Set(reply.rows.map((row) => String((row as { asset_id?: unknown } | null)?.asset_id)));
    for (const market of part) {
      const book = bookOf(market, byToken, sent, reply.receivedAt);
      if (book) found.set(market.ref, book instanceof PlatformError ? book : bookFor(context, book));
    }
  };
  for (const part of partsOf(listed, MARKETS_PER_REQUEST)) {
    const failed = await readHalved(part, context, (half, own) => take(half, readBooks, own));
    for (const [{ ref }, error] of failed) found.set(ref, error);
  }
  for (const market of quoted.filter(({ ref }) => positionModule(ref) !== null)) {
    await take([market], readBooksOneByOne, context).catch((error: unknown) => {
      if (!(error instanceof PlatformError) || markets.length === 1) throw error;
      found.set(market.ref, error);
    });
  }
  return found;
}

/** The tokens of a market's two outcomes; null if it has no books. */
function tokensOf(market: StoredMarket): [string, string] | null {
  const [first = '', second = ''] = market.outcomes.map((outcome) => outcome.tokenId);
  return first === '' || second === '' ? null : [first, second];
}

function bookOf(
  market: StoredMarket,
  books: ReadonlyMap<string, ParsedRow<ClobBook>>,
  sent: ReadonlySet<string>,
  receivedAt: string,
): OrderBook | PlatformError | null {
  const tokens = tokensOf(market) ?? [];
  const [first, second] = tokens.map((token) => books.get(token));
  if (first && second) {
    return mapPolymarketBook(market, first.row, second.row, { books: [first.raw, second.raw] }, receivedAt);
  }
  // Bids and asks belong together: if one side is unreadable, there is no book.
  const unreadable = tokens.some((token) => sent.has(token) && !books.has(token));
  return unreadable ? new PlatformError('polymarket', 'bad_answer', { detail: `books of ${market.ref}` }) : null;
}

async function readBooks(
  client: PolymarketClient,
  tokens: readonly string[],
  context: ReadContext,
): Promise<BooksReply> {
  const body = tokens.map((token_id) => ({ token_id }));
  const reply = await client.post('clob/books', '/books', body, context);
  return { rows: parseBody('polymarket', bareList, reply), receivedAt: reply.receivedAt };
}

/** It is not documented whether the batch route has positions of Protocol V2; the single route does. */
async function readBooksOneByOne(
  client: PolymarketClient,
  tokens: readonly string[],
  context: ReadContext,
): Promise<BooksReply> {
  const replies = await Promise.all(tokens.map((token_id) => client.get('clob/book', '/book', { token_id }, context)));
  return { rows: replies.map(({ json }) => json), receivedAt: replies[0]?.receivedAt ?? '' };
}
