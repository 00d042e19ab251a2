import type { Price } from '../../../core/decimal.ts';
import { isoTime } from '../../market-fields.ts';
import { parseBody, parseRows } from '../../parse-rows.ts';
import { ItemReader } from '../../read-items.ts';
import type { PolymarketClient } from '../client.ts';
import { dataPage, resolutionRow } from '../wire.ts';

const ROUTE = '/v2/resolutions';
const IDS_PER_CALL = 20;
const RESOLUTION_ROW = {
  platform: 'polymarket',
  kind: 'market',
  idKey: 'condition_id',
  essential: ['condition_id', 'status', 'payouts'],
} as const;

/** Statuses of an answer that is not final. `initialized`, `posed` and `active` are those of a question without one. */
export const PENDING: ReadonlySet<string> = new Set([
  'proposed',
  'challenged',
  'reproposed',
  'disputed',
  'arbitration',
]);

/** What the oracle reports about a condition. */
export interface Resolution {
  conditionId: string;
  /** Whether it has an answer that is not final. */
  isPending: boolean;
  /** Payout of one share of each outcome; null until the result is final. */
  payouts: Price[] | null;
  /** ISO time; null if unknown. */
  resolvedAt: string | null;
  /** When the oracle expects to settle, an estimate, and its basis; null if not stated, or once settled. */
  expectedAt: string | null;
  expectedBasis: string | null;
}

/** Reads what the oracle reports by condition id; conditions that it does not know are left out. */
export const resolutionReader = (client: PolymarketClient): ItemReader<Resolution> =>
  new ItemReader({
    platform: 'polymarket',
    kind: 'market',
    groupSize: IDS_PER_CALL,
    isOfOtherHost: true,
    async read(ids, context) {
      const reply = await client.get('data-v2/other', ROUTE, { condition: ids.join(',') }, context);
      const { rows } = parseBody('polymarket', dataPage, reply, ROUTE);
      return parseRows(resolutionRow, rows, RESOLUTION_ROW, context).map(({ row }): Resolution => {
        const payouts = row.status === 'resolved' ? row.payouts : null;
        return {
          conditionId: row.condition_id,
          isPending: PENDING.has(row.status),
          payouts,
          resolvedAt: payouts && isoTime(row.resolved_at),
          expectedAt: payouts ? null : isoTime(row.expected_settlement_time),
          expectedBasis: payouts ? null : row.settlement_time_basis || null,
        };
      });
    },
  });
