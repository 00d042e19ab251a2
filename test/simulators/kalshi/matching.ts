import type { Rng } from '../lib/index.ts';
import { Book, better, otherSide, type BookSide, type Resting } from './book.ts';
import type { Exchange } from './exchange.ts';
import type { SimMarket } from './market.ts';
import { NO_ASK, NO_BID } from './units.ts';

/** One trade of a taker. */
export interface Fill {
  position: number;
  price: number;
  count: number;
}

/** A taker's order against the book. */
interface Take {
  /** `bid` buys YES, `ask` buys NO. */
  side: BookSide;
  /** Worst YES price accepted. */
  limit: number;
  count: number;
  trader: number;
  /** Stop after this many trades. */
  maxFills?: number;
  /** What to do about an order of one's own: stop here, or have the resting one removed and go on. */
  onOwn?(order: Resting): 'stop' | 'removed';
}

/** The market's book, grown from its last quote when it is first looked at. */
export function bookOf(exchange: Exchange, market: SimMarket): Book {
  if (market.book) return market.book;
  const book = new Book();
  market.book = book;
  if (market.bid !== NO_BID) seedSide(exchange, market, book, 'bid', market.bid);
  if (market.ask !== NO_ASK) seedSide(exchange, market, book, 'ask', market.ask);
  return book;
}

/** Opens trading on a market that has no quotes yet. */
export function openBook(exchange: Exchange, market: SimMarket): void {
  const { prices } = market.spec.grid;
  const middle = Math.floor(prices.length * (0.2 + 0.6 * exchange.rng.next()));
  const book = new Book();
  market.book = book;
  seedSide(exchange, market, book, 'bid', prices[middle] as number);
  seedSide(exchange, market, book, 'ask', prices[middle + 1] as number);
  syncQuote(exchange, market, exchange.stampUs());
}

function seedSide(exchange: Exchange, market: SimMarket, book: Book, side: BookSide, best: number): void {
  const rng = exchange.rng.fork(`${market.ticker}:${side}`);
  const { prices } = market.spec.grid;
  const step = side === 'bid' ? -1 : 1;
  let at = prices.indexOf(best);
  for (let level = rng.int(4, 11); level > 0 && at >= 0 && at < prices.length; level--, at += step * rng.int(1, 3)) {
    for (let orders = rng.int(1, 2); orders > 0; orders--) {
      book.add(side, prices[at] as number, crowdOrder(exchange, rng));
    }
  }
}

/** Fills a taker's order from the other side, best price and oldest first, at the makers' prices. */
export function take(exchange: Exchange, market: SimMarket, order: Take): Fill[] {
  const book = bookOf(exchange, market);
  const side = otherSide(order.side);
  const timeUs = exchange.stampUs();
  const fills: Fill[] = [];
  let left = order.count;
  while (left > 0 && fills.length < (order.maxFills ?? Infinity)) {
    const next = book.first(side);
    if (!next || better(order.limit, next.price, side)) break;
    if (next.order.trader === order.trader && order.onOwn) {
      if (order.onOwn(next.order) === 'stop') break;
      continue;
    }
    const count = Math.min(left, next.order.count);
    const position = exchange.print(market, {
      timeUs,
      yesPrice: next.price,
      count,
      takerYes: order.side === 'bid',
      block: false,
      maker: next.order.trader,
      taker: order.trader,
    });
    left -= count;
    next.order.count -= count;
    if (next.order.count === 0) book.remove(side, next.order);
    next.order.filled?.(count, next.price, position);
    fills.push({ position, price: next.price, count });
  }
  if (fills.length > 0) syncQuote(exchange, market, timeUs);
  return fills;
}

/** Notes the best quotes of the book in the market's history. */
export function syncQuote(exchange: Exchange, market: SimMarket, timeUs: number): void {
  const book = bookOf(exchange, market);
  market.quote(timeUs, book.best('bid'), book.best('ask'));
  exchange.onBook(market, timeUs);
}

/** The crowd trades once in a market, at most `budget` prints; returns how many there were. */
export function crowdTrade(exchange: Exchange, market: SimMarket, budget: number): number {
  const { rng } = exchange;
  const book = bookOf(exchange, market);
  refill(exchange, market);
  if (rng.chance(0.02)) return blockTrade(exchange, market);
  const side: BookSide = rng.chance(0.5) ? 'bid' : 'ask';
  const waiting = [...book.orders(otherSide(side))].slice(0, Math.min(budget, rng.int(1, 3)));
  const last = waiting.at(-1);
  if (!last) return 0;
  const whole = waiting.slice(0, -1).reduce((sum, { order }) => sum + order.count, 0);
  const count = whole + (rng.chance(0.4) ? last.order.count : rng.int(1, last.order.count));
  const makers = new Set(waiting.map(({ order }) => order.trader));
  let trader = crowd(exchange, rng.next());
  while (makers.has(trader)) trader = (trader + 1) % exchange.crowdSize;
  const fills = take(exchange, market, { side, limit: last.price, count, trader, maxFills: budget });
  requote(exchange, market);
  return fills.length;
}

function blockTrade(exchange: Exchange, market: SimMarket): number {
  const { rng } = exchange;
  const taker = crowd(exchange, rng.next());
  exchange.print(market, {
    timeUs: exchange.stampUs(),
    yesPrice: blockPrice(market, rng),
    count: rng.int(1000, 50_000) * 100,
    takerYes: rng.chance(0.5),
    block: true,
    maker: (taker + 1) % exchange.crowdSize,
    taker,
  });
  return 1;
}

/** Widest distance of the best prices that the crowd leaves, in steps of the grid. */
const WIDEST = 3;

/** The crowd closes a wide spread; in a narrow one it betters a side by a step or takes its orders there away. */
function requote(exchange: Exchange, market: SimMarket): void {
  const { rng } = exchange;
  const book = bookOf(exchange, market);
  const { prices } = market.spec.grid;
  const place = (side: BookSide): number => prices.indexOf(book.best(side));
  const improve = (side: BookSide): void =>
    book.add(side, prices[place(side) + (side === 'bid' ? 1 : -1)] as number, crowdOrder(exchange, rng));
  const side: BookSide = rng.chance(0.5) ? 'bid' : 'ask';
  if (book.depth('bid') > 0 && book.depth('ask') > 0) {
    while (place('ask') - place('bid') > WIDEST) improve(rng.chance(0.5) ? 'bid' : 'ask');
    if (place('ask') - place('bid') > 1 && rng.chance(0.5)) improve(side);
    else if (book.depth(side) > 4) leaveBest(book, side);
  }
  syncQuote(exchange, market, exchange.stampUs());
}

/** The crowd's orders at the best price of a side are cancelled; members' orders stay. */
function leaveBest(book: Book, side: BookSide): void {
  const best = book.best(side);
  const leaving = [...book.orders(side)].filter(({ price, order }) => price === best && !order.filled);
  for (const { order } of leaving) book.remove(side, order);
}

/** Keeps at least four levels on each side where the grid has room for them. */
function refill(exchange: Exchange, market: SimMarket): void {
  const { rng } = exchange;
  const book = bookOf(exchange, market);
  if (book.depth('bid') === 0 && book.depth('ask') === 0) return openBook(exchange, market);
  const { prices } = market.spec.grid;
  for (const side of ['bid', 'ask'] as const) {
    const outward = side === 'bid' ? -1 : 1;
    while (book.depth(side) < 4) {
      const worst = book.levels(side)[0]?.price ?? book.best(otherSide(side));
      const price = prices[prices.indexOf(worst) + outward * (book.depth(side) === 0 ? 1 : rng.int(1, 3))];
      if (price === undefined) break;
      book.add(side, price, crowdOrder(exchange, rng));
    }
  }
  syncQuote(exchange, market, exchange.stampUs());
}

const crowdOrder = (exchange: Exchange, rng: Rng): Resting => ({
  trader: crowd(exchange, rng.next()),
  count: crowdCount(rng.next()),
});

/** A negotiated price: within five steps of the best bid, whatever the spread. */
export function blockPrice(market: SimMarket, rng: Rng): number {
  const { prices } = market.spec.grid;
  const place = prices.indexOf(market.bid) + rng.int(-5, 5);
  return prices[Math.min(Math.max(place, 0), prices.length - 1)] as number;
}

/** A member of the crowd; low numbers trade more. */
export const crowd = (exchange: Exchange, random: number): number => Math.floor(exchange.crowdSize * random * random);

/** Contracts of one order: mostly small, often fractional, sometimes a whale. */
export function crowdCount(random: number): number {
  if (random < 0.5) return 100 * (1 + Math.floor(random * 200));
  if (random < 0.97) return 1 + Math.floor((random - 0.5) * 100_000);
  return 100_000 + Math.floor((random - 0.97) * 60_000_000);
}
