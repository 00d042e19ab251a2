import { scaledInteger, json, type SimReply } from '../../lib/index.ts';
import { closedPositionRow, historyRow, holderRows, positionRow, tradeRow, type HistoryItem } from './rows.ts';
import { feed, type FeedFilter } from './feed.ts';
import type { SimMarket, SimWallet } from '../world/model.ts';
import { currentValue, positionsOf, walletValue, type SimPosition } from './positions.ts';
import { usdNumber } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** A 400 of the Data API v1. */
export class DataError extends Error {}

const ACTIVITY_OFFSET_CAP = 5000;

/** Data API v1: bare arrays, camelCase, errors {"error": text}. `path` is relative to its base. */
export function dataV1(world: PolymarketWorld, path: string, query: URLSearchParams): SimReply | null {
  const [, kind = ''] = path.split('/');
  switch (kind) {
    case '':
      return json(200, { data: 'OK' });
    case 'trades':
      return json(200, trades(world, query));
    case 'positions':
      return json(200, positions(world, query));
    case 'closed-positions':
      return json(200, closedPositions(world, query));
    case 'activity':
      return json(200, activity(world, query));
    case 'holders': {
      if (!query.get('market')) throw new DataError("required query param 'market' not provided");
      const limit = Math.min(whole(query, 'limit', 20), 20);
      return json(
        200,
        marketsOf(world, query).flatMap((market) => holderRows(world, market, limit, whole(query, 'minBalance', 1))),
      );
    }
    case 'value': {
      const wallet = user(world, query);
      return json(200, [{ user: address(query), value: wallet ? usdNumber(walletValue(world, wallet)) : 0 }]);
    }
    case 'traded': {
      const wallet = user(world, query);
      const traded = new Set(wallet ? positionsOf(world, wallet).map(({ market }) => market) : []);
      return json(200, { user: address(query), traded: traded.size });
    }
    case 'oi':
      return json(
        200,
        marketsOf(world, query).map((market) => ({ market: market.conditionId, value: usdNumber(market.sets) })),
      );
    case 'live-volume': {
      const event = world.catalog.event(query.get('id') ?? '');
      const markets = (event?.markets ?? []).map((market) => ({
        market: market.conditionId,
        value: usdNumber(market.volume),
      }));
      const total = usdNumber((event?.markets ?? []).reduce((sum, market) => sum + market.volume, 0n));
      return json(200, [{ total, markets }]);
    }
    default:
      return null;
  }
}

function whole(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null || text === '') return fallback;
  if (!/^\d{1,12}$/.test(text)) throw new DataError(`invalid query param '${name}'`);
  return Number(text);
}

function address(query: URLSearchParams): string {
  const text = query.get('user') ?? '';
  if (text === '') throw new DataError("required query param 'user' not provided");
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new DataError("invalid query param 'user'");
  return text.toLowerCase();
}

const user = (world: PolymarketWorld, query: URLSearchParams): SimWallet | undefined => world.walletOf(address(query));

/** Markets of a comma list of condition ids, or of event ids; unknown ones are left out. */
function marketsOf(world: PolymarketWorld, query: URLSearchParams): SimMarket[] {
  const conditions = csv(query, 'market');
  const events = csv(query, 'eventId');
  if (conditions.length > 0 && events.length > 0) throw new DataError("'market' and 'eventId' are mutually exclusive");
  if (conditions.some((id) => !/^0x[0-9a-fA-F]{62,64}$/.test(id))) throw new DataError("invalid query param 'market'");
  const named = conditions.map((id) => world.catalog.byConditionId(id.toLowerCase()));
  const nested = events.flatMap((id) => world.catalog.event(id)?.markets ?? []);
  return [...named, ...nested].filter((market) => market !== undefined);
}

const csv = (query: URLSearchParams, name: string): string[] => (query.get(name) ?? '').split(',').filter(Boolean);
const narrowed = (query: URLSearchParams): boolean => csv(query, 'market').length + csv(query, 'eventId').length > 0;

function trades(world: PolymarketWorld, query: URLSearchParams): unknown[] {
  const offset = whole(query, 'offset', 0);
  const limit = Math.min(whole(query, 'limit', 100), 10_000);
  if (offset > world.tradesOffsetCap) {
    throw new DataError(`max historical activity offset of ${world.tradesOffsetCap} exceeded`);
  }
  const type = query.get('filterType');
  const amount = query.get('filterAmount');
  if ((type === null) !== (amount === null))
    throw new DataError("'filterType' and 'filterAmount' must be given together");
  if (type !== null && type !== 'CASH' && type !== 'TOKENS') throw new DataError("invalid query param 'filterType'");
  const least = scaledInteger(amount ?? '0', 6);
  if (least === null) throw new DataError("invalid query param 'filterAmount'");
  const side = query.get('side');
  if (side !== null && side !== 'BUY' && side !== 'SELL') throw new DataError("invalid query param 'side'");
  if (offset > 0) world.makeTrades(world.drift.trades);
  const filter: FeedFilter = { takerOnly: query.get('takerOnly') !== 'false' };
  if (side !== null) filter.side = side;
  if (type !== null) filter.least = { of: type, amount: least };
  if (narrowed(query)) filter.markets = marketsOf(world, query);
  if (query.has('user')) {
    const wallet = user(world, query);
    if (!wallet) return [];
    filter.wallet = wallet;
  }
  const page: unknown[] = [];
  let skipped = 0;
  for (const row of feed(world, filter)) {
    if (skipped++ < offset) continue;
    if (page.length === limit) break;
    page.push(tradeRow(row));
  }
  return page;
}

function ownPositions(world: PolymarketWorld, query: URLSearchParams): SimPosition[] {
  const wallet = user(world, query);
  const markets = narrowed(query) ? marketsOf(world, query) : null;
  const all = wallet ? positionsOf(world, wallet) : [];
  return markets ? all.filter(({ market }) => markets.includes(market)) : all;
}

/** Positions below `sizeThreshold` shares (1 unless said otherwise) are hidden. */
function positions(world: PolymarketWorld, query: URLSearchParams): unknown[] {
  const threshold = scaledInteger(query.get('sizeThreshold') ?? '1', 6);
  if (threshold === null) throw new DataError("invalid query param 'sizeThreshold'");
  const flag = (name: string, value: boolean): boolean =>
    query.get(name) === null || (query.get(name) === 'true') === value;
  const held = ownPositions(world, query).filter(
    (position) =>
      position.size > 0n &&
      position.size >= threshold &&
      flag('redeemable', position.status === 'REDEEMABLE') &&
      flag('mergeable', position.mergeable),
  );
  const by = query.get('sortBy') === 'CURRENT' ? currentValue : (position: SimPosition) => position.size;
  const up = query.get('sortDirection') === 'ASC' ? 1 : -1;
  held.sort((a, b) => (by(a) < by(b) ? -up : by(a) > by(b) ? up : 0));
  return sliced(held, query, 100, 500).map(positionRow);
}

function closedPositions(world: PolymarketWorld, query: URLSearchParams): unknown[] {
  const closed = ownPositions(world, query).filter(({ status }) => status === 'CLOSED');
  closed.sort((a, b) => (a.realized < b.realized ? 1 : a.realized > b.realized ? -1 : 0));
  return sliced(closed, query, 10, 50).map(closedPositionRow);
}

function activity(world: PolymarketWorld, query: URLSearchParams): unknown[] {
  const wallet = user(world, query);
  if (whole(query, 'offset', 0) > ACTIVITY_OFFSET_CAP) {
    throw new DataError(`max historical activity offset of ${ACTIVITY_OFFSET_CAP} exceeded`);
  }
  if (!wallet) return [];
  const rows = walletHistory(world, wallet, {
    types: csv(query, 'type'),
    markets: narrowed(query) ? marketsOf(world, query) : null,
    from: whole(query, 'start', 0),
    to: whole(query, 'end', 99_999_999_999),
  });
  if (query.get('sortDirection') === 'ASC') rows.reverse();
  return sliced(rows, query, 100, 500).map(historyRow);
}

export interface HistoryFilter {
  /** [] = all. */
  types: string[];
  markets: SimMarket[] | null;
  /** Unix seconds, both included. */
  from: number;
  to: number;
}

/** Trades and everything else of a wallet, newest first. */
export function walletHistory(world: PolymarketWorld, wallet: SimWallet, asked: HistoryFilter): HistoryItem[] {
  const { types, markets, from, to } = asked;
  const wants = (type: string): boolean => types.length === 0 || types.includes(type);
  const filter: FeedFilter = { takerOnly: false, wallet, from, to };
  if (markets) filter.markets = markets;
  const trades = wants('TRADE') ? [...feed(world, filter)] : [];
  const others = world.activities
    .filter((act) => act.wallet === wallet && wants(act.type) && act.timestamp >= from && act.timestamp <= to)
    .filter((act) => markets === null || (act.market !== null && markets.includes(act.market)));
  return [...others.toReversed(), ...trades].toSorted((a, b) => b.timestamp - a.timestamp);
}

function sliced<T>(rows: T[], query: URLSearchParams, fallback: number, most: number): T[] {
  const offset = whole(query, 'offset', 0);
  return rows.slice(offset, offset + Math.min(whole(query, 'limit', fallback), most));
}
