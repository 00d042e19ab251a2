import { z } from 'zod';
import type { TradeRecord } from '../src/core/model.ts';
import { tradeLine } from '../src/stores/clickhouse/insert-rows.ts';
import type { StoredKey } from './trade-dedup.ts';

/** A trade of a spooled batch and its line in it. */
type SpooledTrade = StoredKey & { line: string };

const LINES_AT_ONCE = 100;
/** Assumed average line size; a batch with longer lines is copied to a larger buffer. */
const LINE_BYTES = 400;

/** The body of an insert, written into one buffer a hundred lines at a time: joining strings or copying chunks costs more. */
export function linesOf(trades: readonly TradeRecord[]): Buffer {
  let body = Buffer.allocUnsafe(trades.length * LINE_BYTES);
  let length = 0;
  for (let i = 0; i < trades.length; i += LINES_AT_ONCE) {
    let text = '';
    for (const trade of trades.slice(i, i + LINES_AT_ONCE)) text += `${tradeLine(trade)}\n`;
    const bytes = Buffer.byteLength(text);
    if (length + bytes > body.length) body = Buffer.concat([body.subarray(0, length)], (length + bytes) * 2);
    length += body.write(text, length);
  }
  return body.subarray(0, length);
}

const SpooledRow = z.object({
  ref: z.string(),
  id_form: z.string(),
  id_text: z.string(),
  tx_text: z.string(),
  executed_at: z.string(),
});

/** The trades of a spooled batch; null if it is damaged. */
export function spooledTrades(body: Buffer): SpooledTrade[] | null {
  try {
    return body.toString('utf8').split('\n').filter(Boolean).map(spooledTrade);
  } catch {
    return null;
  }
}

function spooledTrade(line: string): SpooledTrade {
  const row = SpooledRow.parse(JSON.parse(line));
  const ms = Date.parse(`${row.executed_at.slice(0, 23).replace(' ', 'T')}Z`);
  return {
    line,
    ref: row.ref,
    tradeId: row.id_form === 'tx' ? `${row.tx_text}-${row.id_text}` : row.id_text,
    transactionHash: row.tx_text,
    executedAtUs: ms * 1000 + Number(row.executed_at.slice(23)),
  };
}
