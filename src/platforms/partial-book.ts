import { PlatformError } from '../core/errors.ts';
import type { OrderBook } from '../core/model.ts';
import type { ReadContext } from './contract.ts';

/** A book for its reader. If levels of it are left out, they are counted, and it is an error for a reader that needs them all. */
export function bookFor(context: ReadContext, book: OrderBook): OrderBook | PlatformError {
  const { platform, platformId: id, leftOut } = book;
  if (leftOut === 0) return book;
  const reason = `levels that could not be read: ${leftOut}`;
  context.onBadRow({ platform, kind: 'book', id, field: 'levels', reason });
  return context.takesPartialBooks
    ? book
    : new PlatformError(platform, 'bad_answer', { detail: `book ${id}: ${reason}` });
}

/** The same for a single book: throws the error. */
export function requireBookFor(context: ReadContext, book: OrderBook): OrderBook {
  const found = bookFor(context, book);
  if (found instanceof PlatformError) throw found;
  return found;
}
