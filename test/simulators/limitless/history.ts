import type { Rng } from '../lib/index.ts';
import type { Ids } from './ids.ts';
import {
  inYesTerms,
  TICKS,
  TRADE_PRICE_SCALE,
  type Account,
  type ClobMarket,
  type Outcome,
  type Side,
} from './model.ts';

const TICK_TO_PRICE = 10n ** BigInt(TRADE_PRICE_SCALE - 3);

/** Price of one execution in TRADE_PRICE_SCALE: the tick, or the mean over its makers rounded half up. */
export function printedPrice(parts: readonly { size: bigint; tick: number }[]): bigint {
  const first = parts[0];
  if (first && parts.every((part) => part.tick === first.tick)) return BigInt(first.tick) * TICK_TO_PRICE;
  const size = parts.reduce((sum, part) => sum + part.size, 0n);
  const weighted = parts.reduce((sum, part) => sum + part.size * BigInt(part.tick), 0n) * TICK_TO_PRICE;
  return (weighted * 2n + size) / (size * 2n);
}

/** The amount the order was signed for: a taker who asked for more than was there shows the whole of it here. */
export function makerAmountOf(rng: Rng, side: Side, size: bigint, usd: bigint): bigint {
  if (rng.chance(0.6)) return usd;
  return (side === 'BUY' ? usd : size) * BigInt(rng.int(2, 24));
}

/** Shares ×10^6: mostly small and round, sometimes large, always a multiple of 0.001. */
export function tradeSize(rng: Rng): bigint {
  const kind = rng.next();
  if (kind < 0.5) return BigInt(rng.int(1, 60)) * 1_000_000n;
  if (kind < 0.9) return BigInt(rng.int(1_000, 250_000)) * 1_000n;
  return BigInt(rng.int(500, 9_000)) * 1_000_000n;
}

/**
 * Gives a market `count` past trades between two moments, walking its fair price, and leaves its quotes at the end of the walk.
 * Some executions share a transaction, some rows are identical twins, some prices are averages between ticks.
 */
export function growHistory(
  market: ClobMarket,
  options: { count: number; from: number; to: number; rng: Rng; ids: Ids; accounts: readonly Account[] },
): void {
  const { count, rng, ids, accounts } = options;
  const times = momentsBetween(options.from, options.to, count, rng);
  const [low, high] = [market.halfSpread + 2, TICKS - market.halfSpread - 2];
  for (const at of times) {
    const previous = market.trades.at(-1);
    const kin = previous && market.trades.length > 1 ? rng.next() : 1;
    if (previous && kin < 0.02) {
      push(market, { ...previous });
      continue;
    }
    market.fairTick = Math.min(high, Math.max(low, market.fairTick + rng.int(-4, 4)));
    const [bid, ask] = [market.fairTick - market.halfSpread, market.fairTick + market.halfSpread];
    const outcome: Outcome = rng.chance(0.65) ? 0 : 1;
    const side: Side = rng.chance(0.7) ? 'BUY' : 'SELL';
    const wantsYes = (outcome === 0) === (side === 'BUY');
    const tick = inYesTerms(outcome, wantsYes ? ask : bid);
    const parts = [{ size: tradeSize(rng), tick }];
    const worse = side === 'BUY' ? tick + rng.int(1, 3) : tick - rng.int(1, 3);
    if (rng.chance(0.1) && worse > 0 && worse < TICKS) parts.push({ size: tradeSize(rng), tick: worse });
    const size = parts.reduce((sum, part) => sum + part.size, 0n);
    // Sizes here are whole thousandths of a share, so that the amount is exact.
    const usd = parts.reduce((sum, part) => sum + (part.size * BigInt(part.tick)) / BigInt(TICKS), 0n);
    const shares = previous !== undefined && kin < 0.08;
    push(market, {
      at: shares ? previous.at : at,
      txHash: shares ? previous.txHash : ids.txHash(),
      outcome,
      side,
      price: printedPrice(parts),
      size,
      usd,
      makerAmount: makerAmountOf(rng, side, size, usd),
      account: rng.pick(accounts),
    });
    market.quotes.push(at, bid, ask);
  }
}

function push(market: ClobMarket, trade: ClobMarket['trades'][number]): void {
  market.trades.push(trade);
  market.lastTrade = trade;
  market.volume += trade.usd;
}

/** The past so far stays whole. */
export function settle(market: ClobMarket): void {
  market.settledTrades = market.trades.length;
  market.quotes.settle();
}

function momentsBetween(from: number, to: number, count: number, rng: Rng): Float64Array {
  return Float64Array.from({ length: count }, () => rng.int(from, Math.max(from, to - 1))).toSorted();
}
