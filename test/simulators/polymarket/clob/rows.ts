import { isoSeconds } from '../gamma/rows.ts';
import { bookHash, wireLevels, type WireBook } from '../world/book.ts';
import { hasBook, isClosed, type OutcomeIndex, type SimMarket } from '../world/model.ts';
import { currentPrice, lastTrade } from '../world/stats.ts';
import { lastPriceText, ONE, priceNumber, priceText, sizeNumber, sizeText } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** GET /book of one token; null where there is no book. */
export function bookRow(world: PolymarketWorld, market: SimMarket, outcome: OutcomeIndex): WireBook | null {
  const book = world.book(market);
  if (!book) return null;
  const last = lastTrade(market);
  const row: WireBook = {
    market: market.conditionId,
    asset_id: market.tokenIds[outcome] ?? '',
    timestamp: String(book.updatedMs),
    hash: '',
    bids: wireLevels(book.levels('bid', outcome)),
    asks: wireLevels(book.levels('ask', outcome)),
    min_order_size: sizeText(market.minSize),
    tick_size: priceText(market.tick),
    neg_risk: market.event.negRisk,
    // In the token that was traded last, whichever book is asked for.
    last_trade_price: last ? lastPriceText(last.price) : '',
    ...(market.version === 'v2' && { version: market.version }),
  };
  return { ...row, hash: bookHash(row) };
}

/** GET /markets/{condition} and the rows of GET /markets. */
export function clobMarketRow(world: PolymarketWorld, market: SimMarket) {
  const { event } = market;
  const first = currentPrice(world, market);
  const prices = market.payouts ?? [first, ONE - first];
  const even = ONE / 2n;
  return {
    enable_order_book: hasBook(market) && !isClosed(market),
    active: market.state !== 'unopened',
    closed: isClosed(market),
    archived: market.archived,
    accepting_orders: market.state === 'open' || (market.acceptingWhenClosed && isClosed(market)),
    accepting_order_timestamp: market.acceptingFromMs === null ? null : isoSeconds(market.acceptingFromMs),
    minimum_order_size: sizeNumber(market.minSize),
    minimum_tick_size: priceNumber(market.tick),
    condition_id: market.conditionId,
    question_id: market.questionId,
    question: market.question,
    description: market.description,
    market_slug: market.slug,
    end_date_iso: isoSeconds(market.endMs),
    game_start_time: market.gameStartMs === null ? null : isoSeconds(market.gameStartMs),
    seconds_delay: market.secondsDelay,
    fpmm: '',
    maker_base_fee: 0,
    taker_base_fee: 0,
    notifications_enabled: true,
    neg_risk: event.negRisk,
    neg_risk_market_id: event.negRiskMarketId,
    neg_risk_request_id: event.negRisk ? world.ids.hex('request', market.id) : '',
    icon: `https://images.example.org/${event.slug}.png`,
    image: `https://images.example.org/${event.slug}.png`,
    rewards: { rates: null, min_size: 20, max_spread: 3.5 },
    is_50_50_outcome: market.payouts?.every((payout) => payout === even) ?? false,
    tokens: market.outcomes.map((outcome, i) => ({
      token_id: market.tokenIds[i] ?? '',
      outcome,
      price: priceNumber(prices[i] ?? 0n),
      winner: market.payouts?.[i] === ONE,
    })),
    tags: event.tags.length > 0 ? event.tags.map(({ label }) => label) : null,
  };
}

/** GET /clob-markets/{condition}: one- to five-letter keys, false ones left out. */
export function clobDetailsRow(market: SimMarket) {
  return {
    c: market.conditionId,
    t: market.tokenIds.map((token, i) => ({ t: token, o: market.outcomes[i] })),
    mts: priceNumber(market.tick),
    mos: sizeNumber(market.minSize),
    nr: market.event.negRisk,
    fd: market.fee ? { r: market.fee.rateBps / 10_000, e: market.fee.exponent, to: true } : undefined,
    mbf: 1000,
    tbf: 1000,
    r: null,
    ao: market.state === 'open',
    aot: market.acceptingFromMs === null ? undefined : isoSeconds(market.acceptingFromMs),
    cbos: true,
    gst: market.gameStartMs === null ? undefined : isoSeconds(market.gameStartMs),
    sd: market.secondsDelay || undefined,
    itode: market.takerDelay || undefined,
    v: market.version === 'v2' ? market.version : undefined,
  };
}
