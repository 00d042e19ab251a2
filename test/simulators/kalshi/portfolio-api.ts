import { fixedText, type SimReply } from '../lib/index.ts';
import type { AccountFill, AccountOrder, AccountPosition, Settlement } from './account.ts';
import {
  badRequest,
  commaList,
  integer,
  limitOf,
  ok,
  pageDown,
  timeUs,
  type PrivateCall,
  type PrivateRoute,
} from './call.ts';
import { orderNotFound } from './desk.ts';
import { fillWire, isVisible, namedSubaccount, orderWire } from './order-wire.ts';
import type { SimMarket } from './market.ts';
import { cost, countText, ONE_DOLLAR, timeText, usdText } from './units.ts';

type Tier = 'live' | 'historical';

/** Newest first, with the filters that all portfolio lists share. */
function page<T>(
  call: PrivateCall,
  rows: readonly T[],
  of: (row: T) => { market: SimMarket; timeUs: number; subaccount: number },
  keep: (row: T) => boolean,
): { rows: T[]; cursor: string } {
  const subaccount = namedSubaccount(call, call.query.get('subaccount'));
  const tickers = commaList(call, 'ticker');
  const events = commaList(call, 'event_ticker');
  const shard = integer(call, 'exchange_index');
  const minUs = timeUs(call, 'min_ts') ?? -Infinity;
  const maxUs = timeUs(call, 'max_ts') ?? Infinity;
  const { positions, cursor } = pageDown(call, {
    start: rows.length,
    limit: limitOf(call, 1000, 100, 1),
    keep: (position) => {
      const row = rows[position] as T;
      const { market, timeUs: at, subaccount: own } = of(row);
      return (
        (subaccount === null || own === subaccount) &&
        (!tickers || tickers.includes(market.ticker)) &&
        (!events || events.includes(market.spec.eventTicker)) &&
        (shard === null || market.spec.exchangeIndex === shard) &&
        at >= minUs &&
        at <= maxUs &&
        keep(row)
      );
    },
  });
  return { rows: positions.map((position) => rows[position] as T), cursor };
}

function isArchived(call: PrivateCall, order: AccountOrder): boolean {
  return order.status !== 'resting' && order.updatedUs < call.exchange.cutoff.ordersUpdatedMs * 1000;
}

function isShown(call: PrivateCall, order: AccountOrder): boolean {
  const { orderDelayMs } = call.desk.settings;
  return orderDelayMs === 0 || order.createdUs / 1000 + orderDelayMs <= call.exchange.nowMs;
}

function listOrders(call: PrivateCall, tier: Tier): SimReply {
  const status = call.query.get('status');
  if (status !== null && !['resting', 'canceled', 'executed'].includes(status)) throw badRequest('invalid status');
  const { rows, cursor } = page(
    call,
    [...call.account.orders.values()],
    (order) => ({ market: order.market, timeUs: order.createdUs, subaccount: order.subaccount }),
    (order) =>
      isShown(call, order) &&
      isArchived(call, order) === (tier === 'historical') &&
      (status === null || orderWire(call.exchange, order, call.desk.settings).status === status),
  );
  return ok({ orders: rows.map((order) => orderWire(call.exchange, order, call.desk.settings)), cursor });
}

function oneOrder(call: PrivateCall): SimReply {
  const order = call.desk.find(call.account, call.params[0] ?? '');
  if (!isShown(call, order) || isArchived(call, order)) throw orderNotFound();
  return ok({ order: orderWire(call.exchange, order, call.desk.settings) });
}

function listFills(call: PrivateCall, tier: Tier): SimReply {
  const orderId = call.query.get('order_id');
  const { rows, cursor } = page(
    call,
    call.account.fills,
    (fill: AccountFill) => ({ market: fill.order.market, timeUs: fill.timeUs, subaccount: fill.order.subaccount }),
    (fill) =>
      isVisible(call.exchange, fill, call.desk.settings) &&
      fill.timeUs < call.exchange.cutoff.tradesCreatedMs * 1000 === (tier === 'historical') &&
      (orderId === null || fill.order.orderId === orderId),
  );
  return ok({ fills: rows.map((fill) => fillWire(call.exchange, fill)), cursor });
}

function positionWire(position: AccountPosition): Record<string, unknown> {
  return {
    ticker: position.market.ticker,
    exchange_index: position.market.spec.exchangeIndex,
    position_fp: countText(position.net),
    market_exposure_dollars: usdText(position.exposure),
    total_traded_dollars: usdText(position.traded),
    realized_pnl_dollars: usdText(position.realized),
    fees_paid_dollars: usdText(position.fees),
    last_updated_ts: timeText(position.updatedUs),
  };
}

function eventWire(eventTicker: string, positions: AccountPosition[]): Record<string, unknown> {
  const total = (of: (position: AccountPosition) => bigint): string =>
    usdText(positions.reduce((sum, position) => sum + of(position), 0n));
  return {
    event_ticker: eventTicker,
    total_cost_dollars: total((one) => one.traded),
    total_cost_shares_fp: countText(
      positions.reduce((sum, { bought: { bid, ask } }) => sum + bid.count + ask.count, 0),
    ),
    event_exposure_dollars: total((one) => one.exposure),
    realized_pnl_dollars: total((one) => one.realized),
    fees_paid_dollars: total((one) => one.fees),
  };
}

/** One net position per market; flat markets stay in the list with 0.00. */
function positions(call: PrivateCall): SimReply {
  const settlement = call.query.get('settlement_status') ?? 'unsettled';
  if (!['unsettled', 'settled', 'all'].includes(settlement)) throw badRequest('invalid settlement_status');
  const counted = commaList(call, 'count_filter') ?? [];
  // Those of the key's own subaccount, else of the main account: others have none here.
  const subaccount = namedSubaccount(call, null) ?? 0;
  const { rows, cursor } = page(
    call,
    [...call.account.positions.values()],
    (position) => ({ market: position.market, timeUs: position.updatedUs, subaccount }),
    ({ market, net, traded }) =>
      (settlement === 'all' || (market.status === 'finalized') === (settlement === 'settled')) &&
      (!counted.includes('position') || net !== 0) &&
      (!counted.includes('total_traded') || traded !== 0n),
  );
  const events = new Set(rows.map(({ market }) => market.spec.eventTicker));
  return ok({
    ...(cursor === '' ? {} : { cursor }),
    market_positions: rows.map(positionWire),
    event_positions: [...events].map((ticker) =>
      eventWire(
        ticker,
        rows.filter(({ market }) => market.spec.eventTicker === ticker),
      ),
    ),
  });
}

/** Integer cents beside decimals, as the platform still sends them. */
const centsOf = (usd: bigint): number => Number(usd / 10_000n);

function settlementWire({ position, revenue, settledUs }: Settlement): Record<string, unknown> {
  const { market, bought } = position;
  return {
    ticker: market.ticker,
    exchange_index: market.spec.exchangeIndex,
    event_ticker: market.spec.eventTicker,
    market_result: market.result,
    yes_count_fp: countText(bought.bid.count),
    yes_total_cost_dollars: usdText(bought.bid.cost),
    no_count_fp: countText(bought.ask.count),
    no_total_cost_dollars: usdText(bought.ask.cost),
    revenue: centsOf(revenue),
    value: Math.floor((market.value ?? 0) / 100),
    fee_cost: usdText(position.fees),
    settled_time: timeText(settledUs),
  };
}

function settlements(call: PrivateCall): SimReply {
  const { rows, cursor } = page(
    call,
    call.account.settlements,
    ({ position, settledUs }) => ({ market: position.market, timeUs: settledUs, subaccount: 0 }),
    () => true,
  );
  return ok({ settlements: rows.map(settlementWire), cursor });
}

/** Cut to the four decimals of a balance. */
const dollars = (usd: bigint): string => fixedText((usd / 100n) * 100n, 6, 4);

/** Cash that no waiting order needs, by shard; the portfolio at last prices, cash left out. */
function balance(call: PrivateCall): SimReply {
  const { account, exchange } = call;
  namedSubaccount(call, call.query.get('subaccount'));
  const shards = [0, 1, 2, 3].map((index) => ({ index, free: account.available(index) }));
  const free = shards.reduce((sum, shard) => sum + shard.free, 0n);
  const held = [...account.positions.values()].reduce((sum, { market, net }) => {
    const yes = market.value ?? market.lastPrice;
    return sum + cost(net > 0 ? yes : ONE_DOLLAR - yes, Math.abs(net));
  }, 0n);
  return ok({
    balance: centsOf(free),
    balance_dollars: dollars(free),
    portfolio_value: centsOf(held),
    updated_ts: Math.floor(exchange.nowMs / 1000),
    balance_breakdown: shards.map((shard) => ({ exchange_index: shard.index, balance: dollars(shard.free) })),
  });
}

function limits(): SimReply {
  return ok({
    usage_tier: 'basic',
    read: { refill_rate: 200, bucket_capacity: 600 },
    write: { refill_rate: 100, bucket_capacity: 100 },
    grants: [],
  });
}

export const portfolioRoutes: readonly PrivateRoute[] = [
  { method: 'GET', path: '/portfolio/orders', scope: 'read', handle: (call) => listOrders(call, 'live') },
  { method: 'GET', path: '/portfolio/orders/{}', scope: 'read', cost: 2, handle: oneOrder },
  { method: 'GET', path: '/portfolio/fills', scope: 'read', handle: (call) => listFills(call, 'live') },
  { method: 'GET', path: '/portfolio/positions', scope: 'read', handle: positions },
  { method: 'GET', path: '/portfolio/settlements', scope: 'read', handle: settlements },
  { method: 'GET', path: '/portfolio/balance', scope: 'read', handle: balance },
  { method: 'GET', path: '/historical/orders', scope: 'read', handle: (call) => listOrders(call, 'historical') },
  { method: 'GET', path: '/historical/fills', scope: 'read', handle: (call) => listFills(call, 'historical') },
  { method: 'GET', path: '/account/limits', scope: 'read', handle: limits },
];
