import { PolymarketFields } from './credential.ts';
import { polymarketLimits } from './limits.ts';
import { parseSize } from '../../core/decimal.ts';
import { VOLUME_BASIS } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { isSegment, type PlatformManifest } from '../manifest.ts';
import { polymarketFees, polymarketFillFee } from './fees.ts';
import { conditionRef } from './protocol.ts';

const URLS = [
  'POLYMARKET_GAMMA_URL',
  'POLYMARKET_CLOB_URL',
  'POLYMARKET_DATA_URL',
  'POLYMARKET_WS_URL',
  'POLYMARKET_LIVE_URL',
] as const satisfies readonly (keyof Settings)[];
/** The settings with Polymarket's base URLs. */
export type PolymarketUrl = (typeof URLS)[number];

const REACH_YEARS = 3;

/** Unix ms: older trades of a market are in no feed. */
export function feedStartMs(nowMs: number): number {
  const date = new Date(nowMs);
  return date.setUTCFullYear(date.getUTCFullYear() - REACH_YEARS);
}

/** In the URL of a market's page; absent if the market has no event. */
const EVENT_SLUG = /\/event\/([^/]+)\//;

/** Conditions in their longer spelling, slugs unchanged. */
const normalizeId = (id: string): string | null => {
  if (!isSegment(id)) return null;
  return /^0x/i.test(id) ? conditionRef(id) : id;
};

/** Polymarket: volumes in USD, markets are condition ids, traders are wallets in lower case. */
export const polymarket = {
  credential: PolymarketFields,
  limits: polymarketLimits,
  urls: URLS,
  site: 'polymarket.com',
  volumeBasis: VOLUME_BASIS.polymarket,
  hasPools: false,
  // A market without a condition is older than the order book.
  hasTradeFeed: ({ ref }) => !ref.startsWith('gamma:'),
  feedStartMs,
  lastTradeFrom: 'listing',
  readsOpenInterestApart: true,
  liquidityFrom: 'listing',
  parentMetadata: ['series_slug'],
  // The stated end is a forecast: trading continues until the market resolves.
  tradingEndBinds: false,
  showsWallets: true,
  positionsNameStatus: true,
  profiles: {
    user: 'Polymarket wallet (the proxy wallet of the profile, not the address of its key) or profile name',
    userHint: 'Check the wallet, or the profile name letter by letter.',
  },
  defaultClient: [
    ['POLYMARKET_PRIVATE_KEY', 'private_key', true],
    ['POLYMARKET_SIGNATURE_TYPE', 'signature_type', false],
    ['POLYMARKET_FUNDER', 'funder', false],
  ],
  listsTrades: true,
  takesAmounts: true,
  smallestSize: parseSize('0.01'),
  // While the engine restarts, it is unknown what it had accepted before.
  leavesOrderUnknown: ({ status }) => status === 425,
  normalizeId,
  orderIdOf: (text) => (/^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null),
  matchDelayMs: ({ seconds_delay: seconds }) => (typeof seconds === 'number' ? seconds * 1000 : 0),
  takerFees: polymarketFees,
  fillFee: polymarketFillFee,
  walletText: (wallet) => wallet,
  tradeMetadata: ({ tokenId, conditionId, wallet, sourceUrl }) => ({
    token_id: tokenId,
    condition_id: conditionId,
    wallet,
    event_slug: EVENT_SLUG.exec(sourceUrl)?.[1] ?? '',
  }),
  whaleMetadata: () => ({}),
  classifyError: ({ status, body, words }) => {
    if (status === 403 && body !== undefined && /restricted in your region/i.test(words)) return 'geo_blocked';
    return status === 503 && /post-only|cancel-only|currently disabled/i.test(words) ? 'maintenance' : null;
  },
} satisfies PlatformManifest;
