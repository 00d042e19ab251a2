import type { Price } from '../../core/decimal.ts';
import type { ReadContext } from '../contract.ts';
import { isItemError, parseBody, parseRows } from '../parse-rows.ts';
import type { PolymarketClient } from './client.ts';
import { dataPage, resolutionRow } from './wire.ts';

const ROUTE = '/v2/resolutions';
const IDS_PER_CALL = 20;
const RESOLUTION_ROW = { platform: 'polymarket', kind: 'market', idKey: 'condition_id' } as const;

/** The final result reported by the oracle. */
export interface Resolution {
  /** Payout of one share of each outcome. */
  payouts: Price[];
  /** ISO time; null if unknown. */
  resolvedAt: string | null;
}

/** Final results by condition id; conditions without one are left out. */
export async function readResolutions(
  client: PolymarketClient,
  conditionIds: readonly string[],
  context: ReadContext,
): Promise<Map<string, Resolution>> {
  const found = new Map<string, Resolution>();
  for (let from = 0; from < conditionIds.length; from += IDS_PER_CALL) {
    for (const { row } of await readSome(client, conditionIds.slice(from, from + IDS_PER_CALL), context)) {
      if (row.status !== 'resolved' || row.payouts === null) continue;
      found.set(row.condition_id, { payouts: row.payouts, resolvedAt: row.resolved_at });
    }
  }
  return found;
}

/** Rejected ids have no result; the listing that needs them continues. */
async function readSome(client: PolymarketClient, ids: readonly string[], context: ReadContext) {
  try {
    const reply = await client.get('data-v2/other', ROUTE, { condition: ids.join(',') }, context);
    return parseRows(resolutionRow, parseBody('polymarket', dataPage, reply, ROUTE).rows, RESOLUTION_ROW, context);
  } catch (error) {
    if (!isItemError(error)) throw error;
    context.onBadRow({ ...RESOLUTION_ROW, id: ids[0] ?? '', reason: `${ROUTE}: ${error.detail}` });
    return [];
  }
}
