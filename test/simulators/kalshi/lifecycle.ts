import type { Exchange } from './exchange.ts';
import type { SimMarket } from './market.ts';
import { mix32 } from './tape.ts';
import { ONE_DOLLAR, priceText } from './units.ts';

/** Lets every market whose time has come open, close, be determined and be paid out. */
export function advance(exchange: Exchange): void {
  exchange.onTick();
  exchange.forgetMarkets();
  const now = exchange.nowMs;
  if (now < exchange.nextChangeMs) return;
  let next = Infinity;
  for (const market of exchange.markets) {
    let due = dueMs(market);
    while (due <= now) {
      step(exchange, market, due);
      due = dueMs(market);
    }
    next = Math.min(next, due);
  }
  exchange.nextChangeMs = next;
}

/** When the clock changes the market's status next; Infinity when it does not. */
function dueMs(market: SimMarket): number {
  const { plan } = market.spec;
  switch (market.status) {
    case 'initialized':
      return market.openMs;
    case 'active':
    case 'inactive':
      return market.closeMs;
    case 'closed':
    case 'disputed':
    case 'amended':
      return market.vanished ? Infinity : market.closeMs + plan.lagMs;
    case 'determined':
      return (market.determinedMs ?? market.closeMs) + plan.timerMs;
    case 'finalized':
      return Infinity;
  }
}

function step(exchange: Exchange, market: SimMarket, atMs: number): void {
  if (market.status === 'initialized') market.status = 'active';
  else if (market.status === 'active' || market.status === 'inactive') closeMarket(exchange, market, atMs);
  else if (market.status === 'determined') finalize(exchange, market, atMs);
  else determine(exchange, market, market.spec.plan.result, market.spec.plan.value, atMs);
}

/** Ends trading at an instant, Unix ms. Waiting orders go; an untraded provisional market is forgotten. */
export function closeMarket(exchange: Exchange, market: SimMarket, atMs: number): void {
  market.status = 'closed';
  // Nothing is announced of a close that comes as planned.
  if (atMs < market.closeMs) {
    exchange.onAnnounce({ market, event_type: 'close_date_updated', fields: { close_ts: Math.floor(atMs / 1000) } });
  }
  market.closeMs = atMs;
  market.updatedUs = Math.max(market.updatedUs, atMs * 1000);
  market.book = null;
  market.vanished = market.spec.provisional && market.prints.length === 0;
  exchange.nextChangeMs = 0;
  exchange.onClose(market);
}

/** Fixes the result; `value` is the payout of one YES in 0.0001 dollars. */
export function determine(
  exchange: Exchange,
  market: SimMarket,
  result: 'yes' | 'no' | 'scalar',
  value: number,
  atMs: number,
): void {
  if (value < 0 || value > ONE_DOLLAR) throw new RangeError(`payout ${value} is outside 0..${ONE_DOLLAR}`);
  market.status = 'determined';
  market.result = result;
  market.value = value;
  market.expirationValue = market.spec.plan.expirationValue;
  market.determinedMs = atMs;
  market.updatedUs = Math.max(market.updatedUs, atMs * 1000);
  const fields = { determination_ts: Math.floor(atMs / 1000), result, settlement_value: priceText(value) };
  exchange.onAnnounce({ market, event_type: 'determined', fields });
}

/** Pays out; the row is written a moment after the settlement. */
export function finalize(exchange: Exchange, market: SimMarket, atMs: number): void {
  market.status = 'finalized';
  market.settledUs = atMs * 1000 + (mix32(market.index) % 500);
  market.updatedUs = market.settledUs + 400;
  exchange.onAnnounce({ market, event_type: 'settled', fields: { settled_ts: Math.floor(atMs / 1000) } });
  exchange.onSettle(market);
}
