import { createHash } from 'node:crypto';
import { decimalText, parseDecimal, parsePrice, parseSize } from '../../core/decimal.ts';
import type { TradeRecord } from '../../core/model.ts';
import { kebab } from '../market-fields.ts';
import type { StoredMarket } from '../contract.ts';
import type { TradeRow } from './wire.ts';

/** Places kept in the fingerprint: the platform has printed prices of up to 10, and need not print them again. */
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
 * One id per row, identical rows distinguished by `.2`, `.3` …. `seen` holds how often each text occurred before, where a transaction
 * began on the page before, and is counted on.
 */
export function tradeIds(rows: readonly TradeRow[], seen = new Map<string, number>()): string[] {
  return rows.map((row) => {
    const fingerprint = tradeFingerprint(row);
    const count = (seen.get(fingerprint) ?? 0) + 1;
    seen.set(fingerprint, count);
    return count === 1 ? fingerprint : `${fingerprint}.${count}`;
  });
}

/**
 * One taker row as a record. The outcome is the one whose token traded: the row's own outcome index is 999 until the
 * platform has labelled it. Of a market that is not known the label must do. Null when neither shows the outcome.
 */
export function mapPolymarketTrade(
  row: TradeRow,
  tradeId: string,
  market: StoredMarket | undefined,
): TradeRecord | null {
  const traded = market ? tokenOutcome(row, market) : labelledOutcome(row);
  if (!traded) return null;
  return {
    platform: 'polymarket',
    ref: row.conditionId,
    tradeId,
    executedAtUs: row.timestamp * 1_000_000,
    side: row.side === 'BUY' ? 'buy' : 'sell',
    outcome: traded.id,
    outcomeIndex: traded.index,
    outcomeCount: market?.outcomes.length ?? 2,
    price: parsePrice(row.price),
    size: parseSize(row.size),
    transactionHash: row.transactionHash,
    trader: { address: row.wallet, name: row.name, pseudonym: row.pseudonym, profileImage: row.profileImage },
    isBlockTrade: false,
    quoteUsd: null,
  };
}

interface Traded {
  id: string;
  index: number;
}

function tokenOutcome(row: TradeRow, { outcomes }: StoredMarket): Traded | null {
  const index = outcomes.findIndex(({ tokenId }) => tokenId === row.tokenId);
  const outcome = outcomes[index];
  return outcome ? { id: outcome.id, index } : null;
}

const labelledOutcome = ({ outcome, outcomeIndex }: TradeRow): Traded | null =>
  outcome === '' || outcomeIndex === null
    ? null
    : { id: kebab(outcome) || `outcome-${outcomeIndex}`, index: outcomeIndex };
