import { z } from 'zod';
import { json, pause, type SimReply, type SimRequest } from '../../lib/index.ts';
import { SECOND } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';
import { ClobError, innerFailure } from './error.ts';
import type { ApiKey } from './keys.ts';
import { orderRow, placedRow, refusedRow, tradeRow } from './order-rows.ts';
import { parsePayload, type OrderPayload } from './order.ts';
import { checkOrder } from './rules.ts';
import { CONTRACTS, type Venue } from './typed-data.ts';

const BATCH_MAX = 15;
const CANCELS_MAX = 1000;
const PAGE = 100;
const END = 'LTE=';
/** How long a marketable order is held in a market with a taker delay. */
const TAKER_DELAY_MS = 250;

/** The CLOB's private side; null when the path is none of it. `path` is relative to the base, as clients sign it. */
export async function clobPrivate(world: PolymarketWorld, path: string, request: SimRequest): Promise<SimReply | null> {
  const { keys } = world.exchange;
  const { method } = request;
  const line = `${method} ${path}`;
  if (line === 'POST /auth/api-key') {
    const key = await keys.create(request);
    world.exchange.accounts.ensure(key.address);
    return json(200, credentials(key));
  }
  if (line === 'GET /auth/derive-api-key') return json(200, credentials(await keys.derive(request)));
  const route = ROUTES[line] ?? (line.startsWith('GET /data/order/') ? oneOrder : null);
  if (!route) return null;
  const trading = /^(POST|DELETE) .(order|orders|cancel-all|cancel-market-orders)$/.test(line);
  if (trading) {
    const closed = modeRefusal(world, method === 'POST');
    if (closed) return closed;
  }
  return route({ world, request, path, key: keys.verify(request, path) });
}

interface Call {
  world: PolymarketWorld;
  request: SimRequest;
  path: string;
  key: ApiKey;
}
type Route = (call: Call) => SimReply | Promise<SimReply>;

const ROUTES: Record<string, Route> = {
  'GET /auth/api-keys': ({ world, key }) =>
    json(200, { apiKeys: world.exchange.keys.listOf(key.address).map(({ apiKey }) => apiKey) }),
  'DELETE /auth/api-key': ({ world, key }) => {
    world.exchange.keys.drop(key);
    return json(200, '"OK"');
  },
  'GET /auth/ban-status/closed-only': ({ world, key }) =>
    json(200, { closed_only: world.exchange.accounts.ofOwner(key.address).some(({ closedOnly }) => closedOnly) }),
  'GET /notifications': () => json(200, []),
  'GET /balance-allowance': balance,
  'GET /balance-allowance/update': readBalance,
  'GET /data/orders': openOrders,
  'GET /data/trades': ownTrades,
  'POST /v1/heartbeats': heartbeat,
  'POST /order': async (call) => {
    const payload = parsePayload(parse(call.request.body));
    return postOnlyReply(call.world, payload) ?? json(200, await place(call, payload));
  },
  'POST /orders': placeMany,
  'DELETE /order': (call) => json(200, cancel(call, [cancelSchema.parse(parse(call.request.body)).orderID])),
  'DELETE /orders': (call) => {
    const ids = z.array(z.string()).parse(parse(call.request.body));
    if (ids.length > CANCELS_MAX) throw tooMany(ids.length, CANCELS_MAX);
    return json(200, cancel(call, ids));
  },
  'DELETE /cancel-all': (call) => json(200, cancelWhere(call, {})),
  'DELETE /cancel-market-orders': (call) => json(200, cancelWhere(call, whereSchema.parse(parse(call.request.body)))),
};

const cancelSchema = z.object({ orderID: z.string() });
const whereSchema = z.object({ market: z.string().optional(), asset_id: z.string().optional() });
const tooMany = (count: number, most: number): ClobError =>
  new ClobError(400, `Too many orders in payload: ${count}, max allowed: ${most}`);

const credentials = ({ apiKey, secret, passphrase }: ApiKey) => ({ apiKey, secret, passphrase });

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new ClobError(400, 'Invalid order payload');
  }
}

/** What the engine's mode says to a placement or a cancel, before anything else. */
function modeRefusal({ exchange }: PolymarketWorld, places: boolean): SimReply | null {
  if (exchange.mode === 'restarting') return json(425, { error: 'the matching engine is restarting' });
  if (exchange.mode === 'disabled') {
    return json(503, { error: 'Trading is currently disabled. Check polymarket.com for updates' });
  }
  if (exchange.mode === 'cancel-only' && places) {
    return json(503, {
      error: 'Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.',
    });
  }
  return null;
}

const POST_ONLY_MODE = 'post-only mode: only post-only orders and cancels are allowed';
const isBarred = ({ exchange }: PolymarketWorld, { postOnly }: OrderPayload): boolean =>
  exchange.mode === 'post-only' && !postOnly;

function postOnlyReply(world: PolymarketWorld, payload: OrderPayload): SimReply | null {
  if (!isBarred(world, payload)) return null;
  const seconds = Math.max(1, Math.ceil((world.exchange.modeUntilMs - world.now()) / SECOND));
  const error = POST_ONLY_MODE;
  return json(503, { error, code: 'post_only_mode', retry_after_seconds: seconds }, { 'retry-after': String(seconds) });
}

async function place({ world, key }: Call, payload: OrderPayload) {
  const order = await checkOrder(world, key, payload);
  if (order.market.takerDelay && world.exchange.isMarketable(order)) {
    await pause(world.clock, TAKER_DELAY_MS);
    world.advance();
  }
  const placed = world.exchange.place(order);
  if (world.exchange.failure !== null) throw innerFailure(world.exchange.failure);
  return placedRow(order, placed);
}

/** Elements are accepted or refused one by one, in order; the engine's own refusals say success:true. */
async function placeMany(call: Call): Promise<SimReply> {
  const items = z.array(z.unknown()).parse(parse(call.request.body));
  if (items.length > BATCH_MAX) throw tooMany(items.length, BATCH_MAX);
  const rows: unknown[] = [];
  for (const item of items) {
    try {
      const payload = parsePayload(item);
      if (isBarred(call.world, payload)) throw new ClobError(503, POST_ONLY_MODE);
      rows.push(await place(call, payload));
    } catch (error) {
      if (!(error instanceof ClobError)) throw error;
      rows.push(refusedRow(error.message, /FOK|FAK|balance|post-only/.test(error.message)));
    }
  }
  return json(200, rows);
}

function cancel({ world, key }: Call, ids: string[]) {
  const canceled: string[] = [];
  const not_canceled: Record<string, string> = {};
  for (const id of ids) {
    const order = world.exchange.order(id);
    if (order?.owner === key.apiKey && order.status === 'LIVE') {
      world.exchange.cancel(order);
      canceled.push(order.id);
    } else {
      not_canceled[id] = 'Order not found or already canceled';
    }
  }
  return { canceled, not_canceled };
}

function cancelWhere(call: Call, where: z.infer<typeof whereSchema>) {
  const own = call.world.exchange.openOrders(call.key.apiKey).filter(({ market, outcome }) => {
    const token = where.asset_id === undefined || market.tokenIds[outcome] === where.asset_id;
    return token && (where.market === undefined || call.world.exchange.conditionOf(market) === where.market);
  });
  return cancel(
    call,
    own.map(({ id }) => id),
  );
}

function paged<T>(rows: T[], query: URLSearchParams) {
  const offset = Number(Buffer.from(query.get('next_cursor') || 'MA==', 'base64').toString());
  if (!Number.isInteger(offset) || offset < 0) throw new ClobError(400, 'Invalid cursor');
  const data = rows.slice(offset, offset + PAGE);
  const end = offset + data.length;
  const next_cursor = end < rows.length ? Buffer.from(String(end)).toString('base64') : END;
  return json(200, { limit: PAGE, count: data.length, next_cursor, data });
}

function openOrders({ world, request: { query }, key }: Call): SimReply {
  const is = (name: string, value: string | undefined): boolean => !query.has(name) || query.get(name) === value;
  const own = world.exchange
    .openOrders(key.apiKey)
    .filter(
      ({ id, market, outcome }) =>
        is('id', id) && is('market', world.exchange.conditionOf(market)) && is('asset_id', market.tokenIds[outcome]),
    );
  return paged(
    own.map((order) => orderRow(world, order)),
    query,
  );
}

/** An order that is no longer open is gone from here. */
function oneOrder({ world, path, key }: Call): SimReply {
  const order = world.exchange.order(path.slice('/data/order/'.length));
  const { goneOrders } = world.exchange;
  const shown = order?.status === 'LIVE' || order?.status === 'DELAYED' || goneOrders === 'row';
  if (order?.owner === key.apiKey && shown) return json(200, orderRow(world, order));
  return goneOrders === 'null' ? json(200, 'null') : json(404, { error: 'Order not found' });
}

/** Newest first; `before` and `after` are seconds. */
function ownTrades({ world, request: { query }, key }: Call): SimReply {
  const seconds = (name: string, fallback: number): number => Number(query.get(name) ?? fallback) * SECOND;
  const is = (name: string, ...values: string[]): boolean =>
    !query.has(name) || values.includes(query.get(name)?.toLowerCase() ?? '');
  const own = world.exchange.trades
    .filter(({ takerOrder, makerOrders }) => [takerOrder, ...makerOrders].some((order) => order?.owner === key.apiKey))
    .filter(({ matchedMs }) => matchedMs >= seconds('after', 0) && matchedMs <= seconds('before', 1e12))
    .map((match) => tradeRow(world, match, key.apiKey))
    .filter((row) => is('id', row.id) && is('market', row.market) && is('asset_id', row.asset_id))
    .filter((row) => is('maker_address', row.maker_address, ...row.maker_orders.map((maker) => maker.maker_address)));
  return paged(own.toReversed(), query);
}

/** The CLOB reads the wallet's balance of an asset again. */
function readBalance({ world, request: { query }, key }: Call): SimReply {
  const account = world.exchange.accounts.byOwner(key.address, Number(query.get('signature_type') ?? 0));
  account?.unread.delete(query.get('asset_type') === 'COLLATERAL' ? 'COLLATERAL' : (query.get('token_id') ?? ''));
  return json(200, {});
}

/** Six-decimal integers of the wallet behind the key and signature type. */
function balance({ world, request: { query }, key }: Call): SimReply {
  const account = world.exchange.accounts.byOwner(key.address, Number(query.get('signature_type') ?? 0));
  const asked = world.catalog.byTokenId(query.get('token_id') ?? '');
  const type = query.get('asset_type');
  const version = type === 'CONDITIONAL-V2' ? 'v2' : 'v1';
  if (type !== 'COLLATERAL' && type !== 'CONDITIONAL' && version === 'v1')
    throw new ClobError(400, 'Invalid asset type');
  // Tokens of one protocol version are not looked for among those of the other.
  if (type !== 'COLLATERAL' && asked?.market.version !== version) throw new ClobError(400, 'Invalid token id');
  const held = account && asked ? world.held(account.wallet, asked.market, asked.outcome) : 0n;
  const unread = account?.unread.has(type === 'COLLATERAL' ? type : (query.get('token_id') ?? '')) ?? false;
  const value = unread ? 0n : type === 'COLLATERAL' ? (account?.cash ?? 0n) : held;
  const spenders = (Object.entries(CONTRACTS) as [Venue, string][]).filter(
    ([venue]) => type === 'COLLATERAL' || (venue === 'v3') === (version === 'v2'),
  );
  const allowance = (venue: Venue): string =>
    account?.approved[venue === 'v3' ? 'v2' : 'v1'] === false ? '0' : (2n ** 256n - 1n).toString();
  return json(200, {
    balance: value.toString(),
    allowances: Object.fromEntries(spenders.map(([venue, contract]) => [contract, allowance(venue)])),
  });
}

/** Once begun, fifteen seconds without the next one cancel every order of the key. */
function heartbeat({ world, request, key }: Call): SimReply {
  const sent = z.object({ heartbeat_id: z.string().nullish() }).parse(parse(request.body)).heartbeat_id ?? '';
  const expected = world.exchange.heartbeats.get(key.apiKey);
  if (expected !== undefined && sent !== expected)
    return json(400, { error: 'Invalid heartbeat id', heartbeat_id: expected });
  const next = world.ids.uuid('heartbeat', `${key.apiKey}${expected ?? ''}`);
  world.exchange.heartbeats.set(key.apiKey, next);
  world.at(world.now() + 15 * SECOND, () => {
    if (world.exchange.heartbeats.get(key.apiKey) !== next) return;
    world.exchange.heartbeats.delete(key.apiKey);
    for (const order of world.exchange.openOrders(key.apiKey)) world.exchange.cancel(order);
  });
  return json(200, { heartbeat_id: next });
}
