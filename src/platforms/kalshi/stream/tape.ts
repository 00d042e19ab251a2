import { BadFrame } from '../../sockets/contract.ts';
import { parseFrame } from '../../sockets/frame.ts';
import type { Feed } from './session.ts';
import { lifecycleMsg, tradeMsg } from './wire.ts';

/** Events that change a market's listing; sweeps find the rest. A scheduled close is not announced. */
const CHANGES = new Set([
  'created',
  'activated',
  'deactivated',
  'close_date_updated',
  'determined',
  'settled',
  'metadata_updated',
  'price_level_structure_updated',
]);
const UNUSED = new Set(['event_lifecycle', 'event_fee_update']);

/** Trades, and changes of markets without combos. Frames truncate times to ms, so a trade frame only triggers a REST read. */
export const tapeFeed = (): Feed => ({
  start(send) {
    send('subscribe', { channels: ['trade', 'market_lifecycle_v2'] });
  },
  take({ type, msg }, emit) {
    if (type === 'trade') {
      emit({ kind: 'trade', ref: parseFrame(tradeMsg, msg, type).market_ticker });
      return true;
    }
    if (type === 'market_lifecycle_v2') {
      const { market_ticker: id, event_type: change } = parseFrame(lifecycleMsg, msg, type);
      if (CHANGES.has(change)) emit({ kind: 'market', id });
      return false;
    }
    if (UNUSED.has(type)) return false;
    throw new BadFrame(`unknown type ${type.slice(0, 60)}`);
  },
});
