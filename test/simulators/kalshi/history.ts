import type { Rng } from '../lib/index.ts';
import type { Exchange } from './exchange.ts';
import { blockPrice, crowd, crowdCount } from './matching.ts';
import type { SimMarket } from './market.ts';
import { DAY_MS, NO_ASK, NO_BID, SECOND_US } from './units.ts';

/** A market's price on its way: a place on the grid that wanders, and in the end leans towards the result. */
interface Walk {
  market: SimMarket;
  startUs: number;
  endUs: number;
  place: number;
  target: number;
}

interface HistoryOptions {
  tradesPerMarket: number;
  historyDays: number;
  /** Markets that stay without trades. */
  untraded: ReadonlySet<SimMarket>;
  /** Markets that stay without quotes as well. */
  unquoted: ReadonlySet<SimMarket>;
}

/** Most markets a world can have: a trade's slot packs its time and its market's number in 64 bits. */
const MARKET_SLOTS = 65_536;

/** Writes the past: quotes and trades of every market that has opened, in the order of time. */
export function growHistory(exchange: Exchange, options: HistoryOptions): void {
  const rng = exchange.rng.fork('history');
  const nowUs = exchange.nowUs;
  const walks = new Map<number, Walk>();
  const traded: Walk[] = [];
  for (const market of exchange.markets) {
    if (market.status === 'initialized' || options.unquoted.has(market)) continue;
    const walk = startWalk(market, rng, nowUs, options.historyDays);
    walks.set(market.index, walk);
    quoteStep(walk, rng, walk.startUs);
    if (!options.untraded.has(market)) traded.push(walk);
  }
  for (const { timeUs, index } of slots(traded, options.tradesPerMarket, rng)) {
    tradeAt(exchange, walks.get(index) as Walk, timeUs, rng);
  }
}

function startWalk(market: SimMarket, rng: Rng, nowUs: number, historyDays: number): Walk {
  const endUs = Math.min(nowUs, market.closeMs * 1000) - SECOND_US;
  const firstUs = Math.max(market.openMs * 1000, nowUs - historyDays * DAY_MS * 1000);
  const places = market.spec.grid.prices.length;
  const { value, result } = market.spec.plan;
  return {
    market,
    startUs: firstUs < endUs ? firstUs : market.openMs * 1000,
    endUs,
    place: rng.int(Math.floor(places * 0.15), Math.floor(places * 0.85)),
    target: result === 'yes' ? places - 1 : result === 'no' ? 0 : Math.floor((places * value) / 10_000),
  };
}

/** Times of all trades, ascending, more of them late in each market's life. */
function* slots(walks: Walk[], perMarket: number, rng: Rng): Generator<{ timeUs: number; index: number }> {
  const base = walks.reduce((least, walk) => Math.min(least, walk.startUs), Infinity);
  const packed = new BigUint64Array(walks.length * perMarket);
  const words = new Uint32Array(packed.buffer);
  let at = 0;
  for (const walk of walks) {
    for (let trade = 0; trade < perMarket; trade++, at += 2) {
      const random = rng.next();
      const exact = walk.endUs - (walk.endUs - walk.startUs) * random * random;
      const since = Math.max(roundTime(exact, rng), walk.startUs + 1) - base;
      words[at] = (since % MARKET_SLOTS) * MARKET_SLOTS + walk.market.index;
      words[at + 1] = Math.floor(since / MARKET_SLOTS);
    }
  }
  packed.sort();
  for (at = 0; at < words.length; at += 2) {
    const low = words[at] as number;
    const index = low % MARKET_SLOTS;
    yield { timeUs: base + (words[at + 1] as number) * MARKET_SLOTS + (low - index) / MARKET_SLOTS, index };
  }
}

/** Some times end in zeros, so that their texts have 0 to 6 fractional digits; never a whole minute, where periods meet. */
function roundTime(timeUs: number, rng: Rng): number {
  const unit = rng.chance(0.3) ? rng.pick([10, 100, 1000, 10_000, 100_000, SECOND_US]) : 1;
  const rounded = Math.floor(timeUs / unit) * unit;
  return rounded % (60 * SECOND_US) === 0 ? rounded + SECOND_US : rounded;
}

function tradeAt(exchange: Exchange, walk: Walk, timeUs: number, rng: Rng): void {
  const { market } = walk;
  if (rng.chance(0.6)) {
    const before = Math.max(market.quoteTimes.last(walk.startUs), market.lastPrintUs);
    quoteStep(walk, rng, before + Math.floor((timeUs - before) * rng.next()));
  }
  const wantsYes = rng.chance(0.5);
  const takerYes = market.ask === NO_ASK ? false : market.bid === NO_BID ? true : wantsYes;
  const block = rng.chance(0.01);
  const taker = crowd(exchange, rng.next());
  const maker = (taker + rng.int(1, exchange.crowdSize - 1)) % exchange.crowdSize;
  const count = block ? rng.int(1000, 50_000) * 100 : crowdCount(rng.next());
  const yesPrice = block ? blockPrice(market, rng) : takerYes ? market.ask : market.bid;
  exchange.print(market, { timeUs, yesPrice, count, takerYes, block, maker, taker });
  if (rng.chance(0.03)) {
    // The same taker met two equal orders: two rows that differ in nothing but the id.
    const second = (maker + 1) % exchange.crowdSize;
    const other = second === taker ? (second + 1) % exchange.crowdSize : second;
    exchange.print(market, { timeUs, yesPrice, count, takerYes, block, maker: other, taker });
  }
  if (rng.chance(0.5)) quoteStep(walk, rng, timeUs);
}

/** Moves the price a little and quotes around it; at the ends of the grid one side may be empty. */
function quoteStep(walk: Walk, rng: Rng, timeUs: number): void {
  const { prices } = walk.market.spec.grid;
  const lived = (timeUs - walk.startUs) / (walk.endUs - walk.startUs);
  const reach = Math.max(1, Math.round(prices.length / 60));
  walk.place += rng.int(-reach, reach);
  if (rng.chance(0.3 * lived ** 3)) walk.place += Math.round((walk.target - walk.place) / 4);
  walk.place = Math.min(Math.max(walk.place, 0), prices.length - 2);
  const bid = walk.place - rng.int(0, 1);
  const ask = walk.place + 1 + rng.int(0, 1);
  walk.market.quote(timeUs, prices[bid] ?? NO_BID, prices[ask] ?? NO_ASK);
}
