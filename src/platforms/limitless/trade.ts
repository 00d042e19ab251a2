import { createHash } from 'node:crypto';
import { ONE_PRICE, parsePrice, priceText, type Usd } from '../../core/decimal.ts';
import type { TradeRecord } from '../../core/model.ts';
import { microseconds } from '../market-fields.ts';
import type { StoredMarket } from '../contract.ts';
import type { LimitlessTrade } from './wire.ts';

/**
 * Limitless trades have no id: ours is the first 32 hex digits of SHA-256 over the identifying fields and `k`, the number of identical
 * rows before it in its transaction.
 */
export function limitlessTradeId(trade: LimitlessTrade, k: number): string {
  const text = [
    trade.txHash.toLowerCase(),
    trade.tokenId,
    trade.side,
    priceText(trade.price),
    trade.matchedSize,
    trade.createdAt,
    k,
  ].join('|');
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** By how much the mean price of several matches may be rounded. */
const ROUNDED = parsePrice('0.001');

/** The USDC exchanged. All recorded `takerAmount` are of purchases; one that does not agree with price × size counts something else. */
function usdOf({ price, matchedSize, takerAmount }: LimitlessTrade): Usd | null {
  if (takerAmount == null) return null;
  const over = takerAmount * ONE_PRICE - price * matchedSize;
  return (over < 0n ? -over : over) <= ROUNDED * matchedSize + ONE_PRICE ? takerAmount : null;
}

/**
 * A public trade from its taker's side, in terms of the token traded. `makerAmount` is sometimes that of the maker's whole order and is
 * ignored. Base units are 1e-6, the scale of our sizes and USD. A returned string is the reason why a row is invalid.
 */
export function mapLimitlessTrade(market: StoredMarket, trade: LimitlessTrade, k: number): TradeRecord | string {
  const executedAtUs = microseconds(trade.createdAt);
  if (executedAtUs === null) return 'createdAt: not a time';
  const outcomeIndex = market.outcomes.findIndex(({ tokenId }) => tokenId !== '' && tokenId === trade.tokenId);
  const outcome = market.outcomes[outcomeIndex];
  if (!outcome) return 'tokenId: not one of the market';
  const { account, username, displayName, pfpUrl } = trade.profile ?? {};
  return {
    platform: 'limitless',
    ref: market.ref,
    tradeId: limitlessTradeId(trade, k),
    executedAtUs,
    side: trade.side === 0 ? 'buy' : 'sell',
    outcome: outcome.id,
    outcomeIndex,
    outcomeCount: market.outcomes.length,
    price: trade.price,
    size: trade.matchedSize,
    transactionHash: trade.txHash.toLowerCase(),
    trader: trade.profile
      ? {
          address: account ?? '',
          name: displayName || username || '',
          pseudonym: username ?? '',
          profileImage: pfpUrl ?? '',
        }
      : null,
    isBlockTrade: false,
    quoteUsd: usdOf(trade),
  };
}
