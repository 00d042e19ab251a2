import type { Rng } from '../../lib/index.ts';
import { drawDirection, drawSize, participant, stepQuotes } from './house.ts';
import type { Ledger, Part } from './ledger.ts';
import type { SimMarket } from './model.ts';
import type { Form } from './tape.ts';
import { DAY } from './units.ts';

const MARKETS_MAX = 2 ** 20;

export interface Past {
  markets: readonly SimMarket[];
  ledger: Ledger;
  rng: Rng;
  nowMs: number;
  historyDays: number;
  tradesPerMarket: number;
  wallets: number;
  /** Markets where the demo user takes every eighth trade, with the outcome bought there. */
  demo: ReadonlyMap<SimMarket, 0 | 1>;
}

interface Drawn {
  place: number;
  second: number;
  taker: number;
  form: Form;
  parts: Part[];
}

/**
 * Fills the past: `tradesPerMarket` trades for each market, denser towards the end, in the order of time over all markets.
 * Seconds are shared by several trades, transactions by several rows, and some rows are printed twice.
 */
export function growHistory(past: Past): void {
  const { ledger, rng } = past;
  let previous: Drawn | null = null;
  let transaction = 0;
  for (const key of drawTimes(past)) {
    const place = key % MARKETS_MAX;
    const second = (key - place) / MARKETS_MAX;
    const market = past.markets[place] as SimMarket;
    const together: boolean = previous?.place === place && previous.second === second;
    // The very same purchase once more: always possible, for makers mint what they do not hold.
    const repeats: boolean = together && (previous?.form ?? 2) < 2 && rng.chance(0.25);
    const drawn: Drawn = repeats && previous ? previous : draw(past, market, place, second);
    if (!together || (!repeats && rng.chance(0.7))) transaction += 1;
    const midAfter = ((market.bidTick + market.askTick) / 2) * Number(market.tick);
    const { taker: wallet, form, parts } = drawn;
    const entry = {
      timestamp: second,
      market: market.index,
      wallet,
      form,
      transaction,
      midAfter,
      visibleMs: second * 1000,
    };
    ledger.record(market, entry, parts);
    previous = drawn;
  }
}

/** One number per trade, sorted: second × 2^20 + place of its market. */
function drawTimes({ markets, rng, nowMs, historyDays, tradesPerMarket }: Past): Float64Array {
  const keys = new Float64Array(markets.length * tradesPerMarket);
  let count = 0;
  for (const [place, market] of markets.entries()) {
    const to = Math.min(nowMs, market.closedMs ?? nowMs) - 1000;
    const from = Math.max(market.acceptingFromMs ?? market.createdMs, nowMs - historyDays * DAY, market.createdMs);
    if (to <= from) continue;
    let second = 0;
    for (let i = 0; i < tradesPerMarket; i++) {
      if (i === 0 || !rng.chance(0.15)) second = Math.floor((to - (to - from) * rng.next() ** 2) / 1000);
      keys[count++] = second * MARKETS_MAX + place;
    }
  }
  return keys.subarray(0, count).toSorted();
}

function draw(past: Past, market: SimMarket, place: number, second: number): Drawn {
  const { rng, ledger, wallets } = past;
  const bought = market.trades.length % 8 === 1 ? past.demo.get(market) : undefined;
  const taker = bought === undefined ? participant(market, wallets, rng.int(0, 11)) : 0;
  const lifts = bought === undefined ? drawDirection(market, rng) : bought === 0;
  const parts = drawParts(market, rng, lifts, taker, wallets);
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  stepQuotes(market, rng, lifts);
  return { place, second, taker, parts, form: bought ?? ledger.houseForm(taker, market, lifts, size) };
}

/** One to four makers at the best price and on from there. */
function drawParts(market: SimMarket, rng: Rng, lifts: boolean, taker: number, wallets: number): Part[] {
  const tick = Number(market.tick);
  const last = 1e10 / tick;
  const parts: Part[] = [];
  let at = lifts ? market.askTick : market.bidTick;
  for (let left = rng.chance(0.7) ? 1 : rng.int(2, 4); left > 0 && at > 0 && at < last; left--) {
    const wallet = participant(market, wallets, rng.int(0, 11));
    const other = wallet === taker ? participant(market, wallets, 12) : wallet;
    parts.push({ wallet: other, form: null, firstPrice: at * tick, size: drawSize(rng) });
    if (rng.chance(0.6)) at += lifts ? 1 : -1;
  }
  return parts;
}
