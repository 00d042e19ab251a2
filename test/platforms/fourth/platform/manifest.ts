import type { Settings } from '../../../../src/core/settings.ts';
import { isSegment, type PlatformManifest } from '../../../../src/platforms/manifest.ts';
import { FourthFields } from './credential.ts';
import { fourthLimits } from './limits.ts';
import { UNKNOWN_FEES } from '../../../../src/platforms/fees.ts';

const normalizeId = (id: string): string | null => (isSegment(id) ? id : null);

/** The fourth platform: volumes in USD, markets are slugs, no profiles, no orders. */
export const fourth: PlatformManifest = {
  credential: FourthFields,
  limits: fourthLimits as unknown as PlatformManifest['limits'],
  urls: ['FOURTH_API_URL' as keyof Settings],
  site: 'fourth.example',
  volumeBasis: 'usd',
  hasPools: false,
  lastTradeFrom: 'trades',
  liquidityFrom: 'listing',
  parentMetadata: [],
  tradingEndBinds: true,
  positionsNameStatus: false,
  profiles: { hidden: 'Fourth has no public profiles' },
  defaultClient: [],
  listsTrades: true,
  smallestSize: 10_000n,
  normalizeId,
  orderIdOf: () => null,
  takerFees: () => UNKNOWN_FEES,
  fillFee: () => null,
  walletText: (wallet) => wallet,
  tradeMetadata: () => ({}),
  whaleMetadata: () => ({}),
  classifyError: () => null,
};
