import { json, type SimReply, type SimRequest } from '../../lib/index.ts';
import { ClobError } from './error.ts';
import { bookRow, clobDetailsRow, clobMarketRow } from './rows.ts';
import { hasBook, type OutcomeIndex, type SimMarket } from '../world/model.ts';
import { pricesHistory } from './prices-history.ts';
import { lastTrade } from '../world/stats.ts';
import { lastPriceText, ONE, priceNumber, priceText } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

const PAGE = 1000;
const END = 'LTE=';
const NO_BOOK = 'No orderbook exists for the requested token id';

interface Asked {
  market: SimMarket;
  outcome: OutcomeIndex;
}

/** Public reads of the CLOB; null when the path is none of them. */
export function clobPublic(world: PolymarketWorld, path: string, request: SimRequest): SimReply | null {
  const { method, query } = request;
  const [, kind = '', one = ''] = path.split('/');
  if (method === 'POST') return manyAtOnce(world, kind, request.body);
  if (method !== 'GET') return null;
  const token = (): Asked => known(world, one || query.get('token_id'));
  const quoted = (): Asked => known(world, query.get('token_id'), NO_BOOK);
  switch (kind) {
    case 'ok':
      return json(200, '"OK"');
    case 'time':
      return json(200, Math.floor(world.now() / 1000));
    case 'version':
      return json(200, { version: 2 });
    case 'book':
      return json(200, book(world, quoted()));
    case 'midpoint':
      return json(200, { mid: midpoint(world, quoted()) });
    case 'price':
      return json(200, { price: bestPrice(world, quoted(), query.get('side')) });
    case 'spread':
      return json(200, { spread: spread(world, quoted()) });
    case 'last-trade-price':
      return json(200, lastPrice(world, token()));
    case 'midpoints':
      return json(200, byToken(world, csv(query, 'token_ids'), midpoint));
    case 'prices':
      return json(200, prices(world, csv(query, 'token_ids'), csv(query, 'sides')));
    case 'tick-size':
      return json(200, { minimum_tick_size: priceNumber(token().market.tick) });
    case 'neg-risk':
      return json(200, { neg_risk: token().market.event.negRisk });
    case 'fee-rate':
      token();
      return json(200, { base_fee: 1000 });
    case 'prices-history':
      return json(200, pricesHistory(world, query));
    case 'clob-markets':
      return json(200, clobDetailsRow(byCondition(world, one)));
    case 'markets-by-token': {
      const { market } = token();
      const [primary, secondary] = market.tokenIds;
      return json(200, { condition_id: market.conditionId, primary_token_id: primary, secondary_token_id: secondary });
    }
    case 'markets':
      return json(200, one === '' ? marketPage(world, query) : clobMarketRow(world, byCondition(world, one)));
    default:
      return null;
  }
}

/** POST lists of {token_id, side?}; unknown tokens are left out. */
function manyAtOnce(world: PolymarketWorld, kind: string, body: string): SimReply | null {
  if (!['books', 'midpoints', 'prices', 'spreads', 'last-trades-prices'].includes(kind)) return null;
  const items = parseList(body);
  const tokens = items.map((item) => item.token_id);
  if (kind === 'books')
    return json(
      200,
      [...found(world, tokens)].map(([, asked]) => bookRow(world, asked.market, asked.outcome)),
    );
  if (kind === 'midpoints') return json(200, byToken(world, tokens, midpoint));
  if (kind === 'spreads') return json(200, byToken(world, tokens, spread));
  if (kind === 'prices')
    return json(
      200,
      prices(
        world,
        tokens,
        items.map((item) => item.side ?? ''),
      ),
    );
  return json(
    200,
    [...found(world, tokens)].map(([token_id, asked]) => Object.assign({ token_id }, lastPrice(world, asked))),
  );
}

function parseList(body: string): { token_id: string; side?: string }[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new ClobError(400, 'Invalid payload');
  }
  if (!Array.isArray(parsed) || parsed.some((item) => typeof item?.token_id !== 'string')) {
    throw new ClobError(400, 'Invalid payload');
  }
  if (parsed.length > 500) throw new ClobError(400, 'Payload exceeds the limit');
  return parsed as { token_id: string; side?: string }[];
}

/** Tokens with a live book that lists of tokens know, each once. */
function found(world: PolymarketWorld, tokens: string[]): Map<string, Asked> {
  const asked = new Map<string, Asked>();
  for (const token of tokens) {
    const one = world.catalog.byTokenId(token);
    const listed = one?.market.version === 'v1' || world.exchange.listsKnowPositions;
    if (one && listed && world.book(one.market)) asked.set(token, one);
  }
  return asked;
}

function known(world: PolymarketWorld, token: string | null, missing = 'market not found'): Asked {
  if (token === null || !/^\d{1,78}$/.test(token)) throw new ClobError(400, 'Invalid token id');
  const asked = world.catalog.byTokenId(token);
  if (!asked || !hasBook(asked.market)) throw new ClobError(404, missing);
  return asked;
}

function byCondition(world: PolymarketWorld, condition: string): SimMarket {
  const market = world.catalog.byConditionId(condition);
  if (!market || !hasBook(market)) throw new ClobError(404, 'market not found');
  return market;
}

function live(world: PolymarketWorld, { market }: Asked) {
  const book = world.book(market);
  if (!book) throw new ClobError(404, NO_BOOK);
  return book;
}

function book(world: PolymarketWorld, asked: Asked) {
  live(world, asked);
  return bookRow(world, asked.market, asked.outcome);
}

/** An empty bid side counts as 0, an empty ask side as 1. */
function midpoint(world: PolymarketWorld, asked: Asked): string {
  const mid = live(world, asked).mid();
  return priceText(asked.outcome === 0 ? mid : ONE - mid);
}

const best = (world: PolymarketWorld, asked: Asked, at: 'bid' | 'ask'): bigint | null =>
  live(world, asked).levels(at, asked.outcome)[0]?.price ?? null;

function spread(world: PolymarketWorld, asked: Asked): string {
  return priceText((best(world, asked, 'ask') ?? ONE) - (best(world, asked, 'bid') ?? 0n));
}

/** BUY asks for the best bid, SELL for the best ask; an empty side is "0". */
function bestPrice(world: PolymarketWorld, asked: Asked, side: string | null): string {
  if (side !== 'BUY' && side !== 'SELL') throw new ClobError(400, 'Invalid side');
  return priceText(best(world, asked, side === 'BUY' ? 'bid' : 'ask') ?? 0n);
}

function prices(world: PolymarketWorld, tokens: string[], sides: string[]): Record<string, Record<string, string>> {
  const answer: Record<string, Record<string, string>> = {};
  const asked = found(world, tokens);
  for (const [i, token] of tokens.entries()) {
    const one = asked.get(token);
    const side = sides[i] ?? '';
    if (one) (answer[token] ??= {})[side] = bestPrice(world, one, side);
  }
  return answer;
}

const byToken = <T>(world: PolymarketWorld, tokens: string[], read: (world: PolymarketWorld, asked: Asked) => T) =>
  Object.fromEntries([...found(world, tokens)].map(([token, asked]) => [token, read(world, asked)]));

function lastPrice(_world: PolymarketWorld, { market }: Asked): { price: string; side: string } {
  const last = lastTrade(market);
  return last ? { price: lastPriceText(last.price), side: last.side } : { price: '0.5', side: '' };
}

const csv = (query: URLSearchParams, name: string): string[] => (query.get(name) ?? '').split(',').filter(Boolean);

function marketPage(world: PolymarketWorld, query: URLSearchParams) {
  const cursor = query.get('next_cursor') || 'MA==';
  const offset = Number(Buffer.from(cursor, 'base64').toString());
  if (!Number.isInteger(offset) || offset < 0) throw new ClobError(400, 'Invalid cursor');
  const listed = world.markets.filter((market) => market.conditionId !== '' && hasBook(market));
  const page = listed.slice(offset, offset + PAGE);
  const end = offset + page.length;
  return {
    limit: PAGE,
    count: page.length,
    next_cursor: end < listed.length ? Buffer.from(String(end)).toString('base64') : END,
    data: page.map((market) => clobMarketRow(world, market)),
  };
}
