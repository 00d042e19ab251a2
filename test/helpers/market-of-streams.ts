import type { StoredMarket } from '../../src/platforms/contract.ts';

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
