import { parseSize } from '../../core/decimal.ts';
import type { ReadContext } from '../contract.ts';
import { type ParsedRow, parseRows } from '../parse-rows.ts';
import { type TradeRow, comboRow, dataTrade } from './wire.ts';

/** The platform never shows smaller fills, whatever is requested. */
export const LEAST_FILL = parseSize('0.01');
/** A missing filter is silently dropped. */
export const TRADE_FILTERS = { filter_type: 'TOKENS', filter_amount: '0.01' } as const;

const TRADE_ROW = { platform: 'polymarket', kind: 'trade', idKey: 'transaction_hash' } as const;

/** The trades of a page without combos, which are bets on several markets at once and belong to none. */
export const parseTrades = (rows: readonly unknown[], context: ReadContext): ParsedRow<TradeRow>[] =>
  parseRows(
    dataTrade,
    rows.filter((row) => !comboRow.safeParse(row).success),
    TRADE_ROW,
    context,
  );
