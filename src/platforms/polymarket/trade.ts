import { createHash } from 'node:crypto';
import { decimalText, parseDecimal, parsePrice, parseSize } from '../../core/decimal.ts';
import type { TradeRecord } from '../../core/model.ts';
import { kebab } from '../market-fields.ts';
import type { ReadContext, StoredMarket } from '../contract.ts';
import { type ParsedRow, parseRows } from '../parse-rows.ts';
import { comboRow, dataTrade, type TradeRow } from './wire.ts';

/** The platform never shows smaller fills, whatever is requested. */
export const LEAST_FILL = parseSize('0.01');
/** A missing filter is silently dropped. */
export const TRADE_FILTERS = { filter_type: 'TOKENS', filter_amount: '0.01' } as const;

/** A trade is not read without these: they identify it. What names its outcome, its market and its taker may be unknown. */
const TRADE_ROW = {
  platform: 'polymarket',
  kind: 'trade',
  idKey: 'transaction_hash',
  essential: ['proxy_wallet', 'side', 'token_id', 'condition_id', 'price', 'size', 'timestamp', 'transaction_hash'],
} as const;

/** The trades of a page without combos, which are bets on several markets at once and belong to none. */
export const parseTrades = (rows: readonly unknown[], context: ReadContext): ParsedRow<TradeRow>[] =>
  parseRows(
    dataTrade,
    rows.filter((row) => !comboRow.safeParse(row).success),
    TRADE_ROW,
    context,
  );

/** Decimals in the fingerprint: the platform has sent prices with up to 10, and may send fewer next time. */
const FINGERPRINT_SCALE = 6;

const plain = (value: string | number): string =>
  decimalText(parseDecimal(value, FINGERPRINT_SCALE), FINGERPRINT_SCALE);

/**
 * The feed has no ids, and one transaction has many rows, so a row's id consists of what does not change between reads:
 * `<transaction>-<last 8 digits of the token>-<first 8 hex digits of SHA-256("wallet|SIDE|price|size")>`.
 * From the second identical text on, `.k` is appended to the k-th: see tradeIds.
 */
export function tradeFingerprint(row: TradeRow): string {
  const content = `${row.wallet}|${row.side}|${plain(row.price)}|${plain(row.size)}`;
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8);
  return `${row.transactionHash}-${row.tokenId.slice(-8)}-${digest}`;
}

/**
 * One id per row; identical rows get `.2`, `.3` …. `seen` counts the earlier occurrences of each text if the transaction began on the
 * previous page, and is updated.
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
 * One taker row as a record. The outcome is that of the traded token, because the row's own outcome index is 999 until the platform has
 * labelled it. For an unknown market, or an outcome whose token is not known, the label is used. Null if neither shows the outcome.
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
  const traded = outcomes.findIndex(({ tokenId }) => tokenId === row.tokenId);
  const labelled = labelledOutcome(row)?.index ?? -1;
  const index = traded === -1 && outcomes[labelled]?.tokenId === '' ? labelled : traded;
  const outcome = outcomes[index];
  return outcome ? { id: outcome.id, index } : null;
}

const labelledOutcome = ({ outcome, outcomeIndex }: TradeRow): Traded | null =>
  outcome === '' || outcomeIndex === null
    ? null
    : { id: kebab(outcome) || `outcome-${outcomeIndex}`, index: outcomeIndex };
