import type { Settings } from '../../../core/settings.ts';
import type { Address } from 'viem';
import { refusedBy } from '../../refusal-rules.ts';
import { POLYMARKET_CHECKS } from './advice.ts';
import type { StoredMarket } from '../../contract.ts';
import type { SigningDomain } from '../../evm/typed-data.ts';
import { positionModule } from '../protocol.ts';

export const CHAIN_ID = 137n;

/** A contract that orders are signed for. Collateral is pUSD on all of them. */
export interface Exchange {
  domain: SigningDomain;
  /** The contract that holds the shares; the exchange may move them only after an approval there. */
  shares: Address;
  /** The CLOB's name for these shares in balance requests. */
  assetType: 'CONDITIONAL' | 'CONDITIONAL-V2';
}

const exchange = (version: string, verifyingContract: Address, rest: Omit<Exchange, 'domain'>): Exchange => ({
  domain: { name: 'Polymarket CTF Exchange', version, chainId: CHAIN_ID, verifyingContract },
  ...rest,
});

const CTF = { shares: '0x4D97DCd97eC945f40cF65F87097ACe5EA0476045', assetType: 'CONDITIONAL' } as const;
const POSITIONS = { shares: '0x006F54F7f9A22e0000CC2AB60031000000ae9fEF', assetType: 'CONDITIONAL-V2' } as const;

/** Markets of version 1 trade on one of two contracts, those of Protocol V2 all on the third. */
export const EXCHANGES = {
  standard: exchange('2', '0xE111180000d2663C0091e4f400237545B87B996B', CTF),
  negativeRisk: exchange('2', '0xe2222d279d744050d28e00520010520000310F59', CTF),
  v3: exchange('3', '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa', POSITIONS),
} satisfies Record<string, Exchange>;

const SPENDERS = new Map<string, string>([
  [EXCHANGES.standard.domain.verifyingContract.toLowerCase(), 'CTF Exchange'],
  [EXCHANGES.negativeRisk.domain.verifyingContract.toLowerCase(), 'Neg Risk CTF Exchange'],
  [EXCHANGES.v3.domain.verifyingContract.toLowerCase(), 'Exchange V3'],
]);

/** What Polymarket calls a contract that moves a wallet's assets; null for others. */
export const spenderName = (address: string): string | null => SPENDERS.get(address.toLowerCase()) ?? null;

/** How the CLOB names an outcome's shares in balance requests. */
export const sharesAsset = (tokenId: string): { asset_type: Exchange['assetType']; token_id: string } => ({
  asset_type: (positionModule(tokenId) === null ? CTF : POSITIONS).assetType,
  token_id: tokenId,
});

/** The setting that allows orders on negative-risk markets of Protocol V2. */
export type PolymarketOrderSetting = 'POLYMARKET_V2_NEGATIVE_RISK';

/** A market's protocol; null if it is unknown. Rows without a version are identified by their ids, as in Polymarket's client. */
function protocolOf({ metadata, outcomes }: Pick<StoredMarket, 'metadata' | 'outcomes'>): 'v1' | 'v2' | null {
  const { version = '' } = metadata;
  if (version === 'v1' || version === 'v2') return version;
  if (version !== '') return null;
  return outcomes.some(({ tokenId }) => tokenId !== '' && positionModule(tokenId) !== null) ? 'v2' : 'v1';
}

/** The contract for which a market's orders are signed. Throws ApiError 422 if it is not known for certain. */
export function exchangeOf(
  market: StoredMarket,
  outcomeIndex: number,
  settings: Pick<Settings, PolymarketOrderSetting>,
): Exchange {
  const { metadata, outcomes, platformId } = market;
  const protocol = protocolOf(market);
  if (protocol === null) {
    const fault = `market_id: ${platformId} has version ${JSON.stringify(metadata.version)}`;
    throw refusedBy(POLYMARKET_CHECKS.protocol, fault);
  }
  const tokenId = outcomes[outcomeIndex]?.tokenId ?? '';
  if (tokenId === '') throw refusedBy(POLYMARKET_CHECKS.noBook, `market_id: ${platformId} has no token ids`);
  if (protocol === 'v1') {
    if (typeof metadata.neg_risk === 'boolean') return metadata.neg_risk ? EXCHANGES.negativeRisk : EXCHANGES.standard;
    throw refusedBy(POLYMARKET_CHECKS.exchange, `market_id: ${platformId} has no neg_risk`);
  }
  const module = positionModule(tokenId);
  if (module !== 'binary' && module !== 'negative_risk') {
    const positions = module === null ? 'an unknown module' : `the ${module} module`;
    throw refusedBy(POLYMARKET_CHECKS.module, `market_id: ${platformId} has positions of ${positions}`);
  }
  if ((module === 'negative_risk' || metadata.neg_risk === true) && !settings.POLYMARKET_V2_NEGATIVE_RISK) {
    const fault = `market_id: ${platformId} is a negative-risk market of version v2`;
    throw refusedBy(POLYMARKET_CHECKS.negativeRisk, fault);
  }
  return EXCHANGES.v3;
}
