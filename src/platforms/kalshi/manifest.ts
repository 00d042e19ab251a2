import { KalshiFields } from './credential.ts';
import { kalshiLimits } from './limits.ts';
import { parseSize } from '../../core/decimal.ts';
import { VOLUME_BASIS } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { isSegment, type PlatformManifest } from '../manifest.ts';
import { kalshiFees, kalshiFillFee } from './fees.ts';

const URLS = ['KALSHI_API_URL', 'KALSHI_SOCIAL_URL', 'KALSHI_WS_URL'] as const satisfies readonly (keyof Settings)[];
/** The settings with Kalshi's base URLs. */
export type KalshiUrl = (typeof URLS)[number];

const normalizeId = (id: string): string | null => (isSegment(id) ? id.toUpperCase() : null);

/** trading_is_paused, exchange_is_paused: nothing is accepted now. */
export const isPause = (code: string): boolean => code.endsWith('_is_paused');

/** Kalshi: volumes in contracts, ids are tickers in upper case, traders are anonymous. */
export const kalshi = {
  credential: KalshiFields,
  limits: kalshiLimits,
  urls: URLS,
  site: 'kalshi.com',
  volumeBasis: VOLUME_BASIS.kalshi,
  hasPools: false,
  barsBringQuotes: true,
  lastTradeFrom: 'listing',
  liquidityFrom: 'listing',
  statesDayChange: true,
  parentMetadata: ['event_sub_title', 'mutually_exclusive', 'fee', 'categories'],
  tradingEndBinds: true,
  positionsNameStatus: false,
  pricesPositionsAsStored: true,
  profiles: { user: 'Kalshi nickname', userHint: 'Check the nickname.' },
  defaultClient: [
    ['KALSHI_API_KEY_ID', 'api_key_id', true],
    ['KALSHI_PRIVATE_KEY', 'private_key', true],
  ],
  listsTrades: true,
  smallestSize: parseSize('0.01'),
  enforcesReduceOnly: (timeInForce) => timeInForce === 'ioc',
  netsOutcomes: true,
  // The bucket has tokens for a call again within 50 ms, and there is no penalty.
  rateLimitStepsMs: [500, 1000, 2000],
  normalizeId,
  orderIdOf: (text) => (/^[\w-]{1,100}$/.test(text) ? text : null),
  takerFees: kalshiFees,
  fillFee: kalshiFillFee,
  walletText: (wallet) => wallet,
  tradeMetadata: ({ isBlock, seriesPrice }) => ({ is_block_trade: isBlock, yes_price: Number(seriesPrice) }),
  whaleMetadata: ({ isBlock }) => ({ is_block_trade: isBlock }),
  classifyError: ({ status, code }) => (status >= 400 && status < 500 && isPause(code) ? 'maintenance' : null),
} satisfies PlatformManifest;
