import { type Bucket, type LimitGroup, twoBuckets } from '../http/limit-group.ts';

/** Buckets inside Polymarket's windows of 10 s: capacity + 10 × refill of both stays below its limit, however calls are spread. */
const group = (name: string, live: Bucket, background: Bucket | null): LimitGroup =>
  twoBuckets(name, 1, live, background);

/** Polymarket's limits, per address and 10 s, with a margin for network jitter. */
export const polymarketLimits = {
  'polymarket:gamma/markets': group('polymarket:gamma/markets', [20, 5], [10, 20]),
  'polymarket:gamma/events': group('polymarket:gamma/events', [20, 10], [20, 20]),
  /** Tags, series, comments, search: sized for the lowest limit, 200. */
  'polymarket:gamma/other': group('polymarket:gamma/other', [20, 10], [10, 5]),
  /** /book, /price, /midpoint. */
  'polymarket:clob/book': group('polymarket:clob/book', [100, 50], [50, 25]),
  /** /books, /prices, /midpoints. */
  'polymarket:clob/books': group('polymarket:clob/books', [30, 15], [25, 25]),
  /** Everything else of the CLOB: sized for /tick-size, 200. */
  'polymarket:clob/other': group('polymarket:clob/other', [20, 10], [10, 5]),
  /** POST /order: the address may send 5,000, one signer of the lowest tier 40 a second (burst 60). */
  'polymarket:clob/order': group('polymarket:clob/order', [20, 38], null),
  /** DELETE /order: one signer of the lowest tier may send 80 a second (burst 120). */
  'polymarket:clob/cancel': group('polymarket:clob/cancel', [40, 75], null),
  /** Private reads under /data (orders, trades). */
  'polymarket:clob/ledger': group('polymarket:clob/ledger', [40, 20], [20, 10]),
  /** /balance-allowance and its update: sized for the update, 50. */
  'polymarket:clob/balance': group('polymarket:clob/balance', [15, 3], null),
  'polymarket:clob/auth': group('polymarket:clob/auth', [20, 7], null),
  'polymarket:data-v2/trades': group('polymarket:data-v2/trades', [20, 8], [15, 15]),
  'polymarket:data-v2/prices-history': group('polymarket:data-v2/prices-history', [15, 4], [12, 12]),
  'polymarket:data-v2/positions': group('polymarket:data-v2/positions', [30, 15], null),
  /** Open interest and resolutions: what the groups above leave of the 800 for all routes. */
  'polymarket:data-v2/other': group('polymarket:data-v2/other', [15, 5], [5, 2]),
};
