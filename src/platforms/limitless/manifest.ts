import { LimitlessFields } from './credential.ts';
import { limitlessLimits } from './limits.ts';
import { parseSize } from '../../core/decimal.ts';
import { VOLUME_BASIS } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { getAddress } from 'viem/utils';
import { feeFacts } from '../fees.ts';
import { isSegment, type PlatformManifest } from '../manifest.ts';
import { isPool } from '../market-fields.ts';
import { limitlessFees, limitlessFillFee } from './fees.ts';
import { cannotArriveAtMs } from './orders/window.ts';

const URLS = ['LIMITLESS_API_URL', 'LIMITLESS_WS_URL'] as const satisfies readonly (keyof Settings)[];
/** The settings with Limitless's base URLs. */
export type LimitlessUrl = (typeof URLS)[number];

/** Codes of announced maintenance, when no order is accepted. Other replies with these statuses may come from a gateway. */
const TRADING_MODES = new Set([
  'post_only',
  'post_only_mode',
  'cancel_only',
  'cancel_only_mode',
  'disabled',
  'trading_disabled',
]);

/** Slugs unchanged, pool addresses in lower case. */
const normalizeId = (id: string): string | null => {
  if (!isSegment(id)) return null;
  return /^0x/i.test(id) ? id.toLowerCase() : id;
};

const walletText = (wallet: string): string => (wallet === '' ? '' : getAddress(wallet));

/** Limitless: volumes in USD, markets are slugs, traders are accounts with checksummed addresses. */
export const limitless = {
  credential: LimitlessFields,
  limits: limitlessLimits,
  urls: URLS,
  site: 'limitless.exchange',
  volumeBasis: VOLUME_BASIS.limitless,
  hasPools: true,
  hasTradeFeed: ({ metadata }) => !isPool(metadata),
  lastTradeFrom: 'trades',
  liquidityFrom: 'book',
  keepsFirstResolution: true,
  parentMetadata: ['order_in_group', 'strike'],
  tradingEndBinds: true,
  positionsNameStatus: false,
  profiles: { hidden: 'Limitless has no profiles; GET /v1/api/wallets/{address} has its wallets' },
  showsWallets: true,
  defaultClient: [
    ['LIMITLESS_TOKEN_ID', 'token_id', true],
    ['LIMITLESS_SECRET', 'secret', true],
    ['LIMITLESS_PRIVATE_KEY', 'private_key', true],
  ],
  listsTrades: false,
  smallestSize: parseSize('0.001'),
  cannotArriveAtMs,
  leavesOrderUnknown: ({ status, code }) => (status === 425 || status === 503) && !TRADING_MODES.has(code),
  normalizeId,
  orderIdOf: (text) => (/^[\w-]{1,100}$/.test(text) ? text : null),
  matchDelayMs(metadata) {
    const { taker_delay_ms: delayMs } = feeFacts(metadata);
    return typeof delayMs === 'number' ? delayMs : 0;
  },
  takerFees: limitlessFees,
  fillFee: limitlessFillFee,
  walletText,
  tradeMetadata: ({ tokenId, wallet, quoteUsd }) => ({
    token_id: tokenId,
    account: walletText(wallet),
    ...(quoteUsd === null ? {} : { usdc: quoteUsd }),
  }),
  whaleMetadata: () => ({}),
  classifyError: ({ status, code, words }) => {
    // Without a code, this status means that an order arrived outside its receive window.
    if (status === 425 && code === '') return 'unavailable';
    if (status === 503) return 'maintenance';
    return status >= 400 && status < 500 && words.startsWith('Invalid slug format') ? 'not_found' : null;
  },
} satisfies PlatformManifest;
