import { createHash } from 'node:crypto';
import { decimalText, parseDecimal, parsePrice, parseSize } from '../../decimal.ts';
import type { TradeRecord } from '../../schemas.ts';
import type { MarketKeys } from '../platform.ts';
import type { TradeRow } from './wire.ts';

/** Places kept in the fingerprint: version 1 prints prices of up to 10, version 2 need not print the same ones. */
const FINGERPRINT_SCALE = 6;

const plain = (value: string | number): string =>
  decimalText(parseDecimal(value, FINGERPRINT_SCALE), FINGERPRINT_SCALE);

/**
 * The tape has no ids and one transaction has many rows, so a row's id is made of what cannot move between reads:
 * `<transaction>-<last 8 digits of the token>-<first 8 hex digits of SHA-256("wallet|SIDE|price|size")>`.
 * The k-th row (k ≥ 2) with an identical text needs `.k` appended: see tradeIds.
 */
export function tradeFingerprint(row: TradeRow): string {
  const content = `${row.wallet}|${row.side}|${plain(row.price)}|${plain(row.size)}`;
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8);
  return `${row.transactionHash}-${row.tokenId.slice(-8)}-${digest}`;
}

/**
 * One id per row of one reply, identical rows told apart by `.2`, `.3` …. A transaction cut off by the reply's end must
 * not be in it, or its identical rows are counted short.
 */
export function tradeIds(rows: readonly TradeRow[]): string[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const fingerprint = tradeFingerprint(row);
    const count = (seen.get(fingerprint) ?? 0) + 1;
    seen.set(fingerprint, count);
    return count === 1 ? fingerprint : `${fingerprint}.${count}`;
  });
}

/**
 * One taker row as a record. The outcome is the one whose token traded: the row's own outcome index is 999 until the
 * platform has labelled it. Null when the market has no such token.
 */
export function mapPolymarketTrade(row: TradeRow, tradeId: string, market: MarketKeys): TradeRecord | null {
  const outcomeIndex = market.outcomes.findIndex((outcome) => outcome.tokenId === row.tokenId);
  const outcome = market.outcomes[outcomeIndex];
  if (!outcome) return null;
  return {
    platform: 'polymarket',
    ref: market.ref,
    tradeId,
    executedAtUs: row.timestamp * 1_000_000,
    side: row.side === 'BUY' ? 'buy' : 'sell',
    outcome: outcome.id,
    outcomeIndex,
    outcomeCount: market.outcomes.length,
    price: parsePrice(row.price),
    size: parseSize(row.size),
    transactionHash: row.transactionHash,
    trader: { address: row.wallet, name: row.name, pseudonym: row.pseudonym, profileImage: row.profileImage },
    isBlockTrade: false,
    quoteUsd: null,
  };
}
