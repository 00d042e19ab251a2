import type { StreamFilter } from '../../src/streams/filter.ts';
import { storedMarket, yesNo } from '../fixtures/stored-market.ts';

/** A market as streams name it. */
export const MARKET = storedMarket({ platform: 'kalshi', ref: 'KXSTREAM', outcomes: yesNo() });

/** A filter of streams that leaves nothing out, but for its channels and platforms. */
export const ALL: Omit<StreamFilter, 'channels' | 'platforms'> = {
  markets: null,
  eventId: null,
  minSize: null,
  minNotional: null,
  addresses: null,
  books: null,
  matchGaps: null,
};
