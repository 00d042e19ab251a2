import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { StreamFilter } from '../../src/streams/filter.ts';

/** A market as streams name it. */
export const MARKET: StoredMarket = {
  platform: 'kalshi',
  ref: 'KXSTREAM',
  platformId: 'KXSTREAM',
  slug: '',
  title: '',
  eventId: '',
  sourceUrl: '',
  seriesId: '',
  status: 'open',
  outcomes: [
    { id: 'yes', name: 'Yes', tokenId: '' },
    { id: 'no', name: 'No', tokenId: '' },
  ],
  tradingStartAt: null,
  tradingEndAt: null,
  metadata: {},
};

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
