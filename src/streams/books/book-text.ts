import { recordedAnswer } from '../../books/answer.ts';
import { bookChanges } from '../../books/book.ts';
import { bookChecksum } from '../../books/checksum.ts';
import { decimalNumber, PRICE_SCALE, SIZE_SCALE } from '../../core/decimal.ts';
import type { BookSide } from '../../core/model.ts';
import type { FollowedBook } from './books.ts';

export type KnownBook = FollowedBook & { book: BookSide };

/** A book message without the parts that differ between readers: the JSON before its sequence, and between it and `sent_at`. */
interface BookText {
  event: 'book' | 'book_change';
  head: string;
  tail: string;
}

interface Made {
  before: BookSide | null;
  depth: number;
  text: BookText | null;
}

/** Messages that lead to a market's current book; most readers get the same one. */
const made = new WeakMap<FollowedBook, { to: BookSide; texts: Made[] }>();

function madeFor(followed: KnownBook): Made[] {
  const known = made.get(followed);
  if (known?.to === followed.book) return known.texts;
  const texts: Made[] = [];
  made.set(followed, { to: followed.book, texts });
  return texts;
}

/**
 * The message that updates a reader with `depth` levels per side from one book to the current one, or from null to the whole book; null if
 * the reader sees no difference. Books must not be changed in place.
 */
export function bookText(followed: KnownBook, before: BookSide | null, depth: number): BookText | null {
  const known = madeFor(followed);
  let found = known.find((one) => one.before === before && one.depth === depth);
  if (!found) {
    found = { before, depth, text: before ? changeText(followed, before, depth) : wholeText(followed, depth) };
    known.push(found);
  }
  return found.text;
}

const cut = ({ bids, asks }: BookSide, depth: number): BookSide => ({
  bids: bids.slice(0, depth),
  asks: asks.slice(0, depth),
});

function changeText(followed: KnownBook, before: BookSide, depth: number): BookText | null {
  const book = cut(followed.book, depth);
  const changes = bookChanges(cut(before, depth), book);
  if (changes.length === 0) return null;
  const levels = changes.map(({ side, price, size }) => ({
    side,
    price: decimalNumber(price, PRICE_SCALE),
    size: decimalNumber(size, SIZE_SCALE),
  }));
  const { platform, platformId } = followed.market;
  return textOf('book_change', { platform, market_id: platformId }, followed, book, { changes: levels });
}

function wholeText(followed: KnownBook, depth: number): BookText {
  const book = cut(followed.book, depth);
  const answer = recordedAnswer(followed.market, book, followed.exchangeAt ?? followed.receivedAt);
  return textOf('book', answer, followed, book, {});
}

function textOf(
  event: BookText['event'],
  named: object,
  { market, exchangeAt, receivedAt }: FollowedBook,
  book: BookSide,
  more: object,
): BookText {
  const checked = { outcome: market.outcomes[0]?.id ?? '', checksum: bookChecksum(book) };
  const rest = { ...checked, ...more, exchange_at: exchangeAt, received_at: receivedAt };
  return {
    event,
    head: `${JSON.stringify(named).slice(0, -1)},"sequence":`,
    tail: `,${JSON.stringify(rest).slice(1, -1)},"sent_at":`,
  };
}
