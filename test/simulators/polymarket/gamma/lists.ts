import { gammaCondition, isClosed, type SimEvent, type SimMarket } from '../world/model.ts';
import { currentPrice, isClosedEvent, liquidity, volumeOver, WINDOWS } from '../world/stats.ts';
import { priceNumber } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** Filters, orders and cursors of Gamma's four lists. */

/** A 422 of Gamma. */
export class ValidationError extends Error {}

type Value = number | string;
type Sorter<T> = (world: PolymarketWorld, item: T) => Value;

const sumOf = (event: SimEvent, value: (market: SimMarket) => bigint): number =>
  Number(event.markets.reduce((sum, market) => sum + value(market), 0n));

const MARKET_ORDERS: Record<string, Sorter<SimMarket>> = {
  id: (_, market) => Number(market.id),
  slug: (_, market) => market.slug,
  volume: (_, market) => Number(market.volume),
  volumeNum: (_, market) => Number(market.volume),
  liquidity: (world, market) => Number(liquidity(world, market)),
  liquidityNum: (world, market) => Number(liquidity(world, market)),
  competitive: (world, market) => -Math.abs(priceNumber(currentPrice(world, market)) - 0.5),
  startDate: (_, market) => market.acceptingFromMs ?? market.createdMs,
  createdAt: (_, market) => market.createdMs,
  updatedAt: (_, market) => market.updatedMs,
  endDate: (_, market) => market.endMs,
  closedTime: (_, market) => market.closedMs ?? 0,
};

const EVENT_ORDERS: Record<string, Sorter<SimEvent>> = {
  id: (_, event) => Number(event.id),
  slug: (_, event) => event.slug,
  volume: (_, event) => sumOf(event, (market) => market.volume),
  liquidity: (world, event) => sumOf(event, (market) => liquidity(world, market)),
  startDate: (_, event) => event.createdMs,
  createdAt: (_, event) => event.createdMs,
  updatedAt: (_, event) => Math.max(event.createdMs, ...event.markets.map((market) => market.updatedMs)),
  endDate: (_, event) => event.endMs,
  closedTime: (_, event) => Math.max(0, ...event.markets.map((market) => market.closedMs ?? 0)),
};
for (const [name, windowMs] of Object.entries(WINDOWS)) {
  MARKET_ORDERS[`volume${name}`] = (world, market) => Number(volumeOver(world, market, windowMs));
  EVENT_ORDERS[`volume${name}`] = (world, event) => sumOf(event, (market) => volumeOver(world, market, windowMs));
}

const bool = (query: URLSearchParams, name: string): boolean | null => {
  const text = query.get(name);
  if (text === null || text === '') return null;
  if (text !== 'true' && text !== 'false') throw new ValidationError(`${name} must be a boolean`);
  return text === 'true';
};

/** A whole number of at least `min`; the default when absent. */
export function integer(query: URLSearchParams, name: string, fallback: number, min = 0): number {
  const text = query.get(name);
  if (text === null || text === '') return fallback;
  if (!/^-?\d{1,9}$/.test(text) || Number(text) < min)
    throw new ValidationError(`${name} must be an integer of at least ${min}`);
  return Number(text);
}

/** Limits above 100 are cut, not refused. */
export const pageLimit = (query: URLSearchParams): number => Math.min(integer(query, 'limit', 20, 1), 100);

function within(query: URLSearchParams, name: string, value: number, parse: (text: string) => number): boolean {
  const [min, max] = [query.get(`${name}_min`), query.get(`${name}_max`)];
  return (min === null || value >= parse(min)) && (max === null || value <= parse(max));
}

const oneOf = (query: URLSearchParams, name: string, ...values: string[]): boolean => {
  const wanted = query.getAll(name);
  return wanted.length === 0 || wanted.some((one) => values.includes(one));
};

const hasTag = (query: URLSearchParams, event: SimEvent): boolean =>
  oneOf(query, 'tag_id', ...event.tags.map((tag) => tag.id)) &&
  oneOf(query, 'tag_slug', ...event.tags.map((tag) => tag.slug));

/** `closedDefault` is what the list takes for closed when the caller does not say; null lists both. */
export function findMarkets(
  world: PolymarketWorld,
  query: URLSearchParams,
  closedDefault: boolean | null,
): SimMarket[] {
  const closed = bool(query, 'closed') ?? closedDefault;
  const active = bool(query, 'active');
  return world.markets.filter(
    (market) =>
      !market.archived &&
      (closed === null || isClosed(market) === closed) &&
      (active === null || (market.state !== 'unopened') === active) &&
      oneOf(query, 'id', market.id) &&
      oneOf(query, 'slug', market.slug) &&
      oneOf(query, 'condition_ids', gammaCondition(market)) &&
      oneOf(query, 'question_ids', market.questionId) &&
      oneOf(query, 'clob_token_ids', ...(market.version === 'v1' ? market.tokenIds : [])) &&
      oneOf(query, 'uma_resolution_status', (market.showsUma && market.uma.at(-1)) || '') &&
      oneOf(query, 'sports_market_types', market.sportsMarketType ?? '') &&
      oneOf(query, 'game_id', String(market.event.gameId)) &&
      hasTag(query, market.event) &&
      within(query, 'volume_num', Number(market.volume) / 1e6, Number) &&
      within(query, 'end_date', market.endMs, Date.parse) &&
      within(query, 'start_date', market.acceptingFromMs ?? market.createdMs, Date.parse),
  );
}

export function findEvents(world: PolymarketWorld, query: URLSearchParams, closedDefault: boolean | null): SimEvent[] {
  const closed = bool(query, 'closed') ?? closedDefault;
  return world.events.filter(
    (event) =>
      !event.archived &&
      (closed === null || isClosedEvent(event) === closed) &&
      oneOf(query, 'id', event.id) &&
      oneOf(query, 'slug', event.slug) &&
      oneOf(query, 'series_id', event.series?.id ?? '') &&
      oneOf(query, 'recurrence', event.series?.recurrence ?? '') &&
      hasTag(query, event) &&
      !query.getAll('exclude_tag_id').some((id) => event.tags.some((tag) => tag.id === id)) &&
      within(query, 'volume', sumOf(event, (market) => market.volume) / 1e6, Number) &&
      within(query, 'end_date', event.endMs, Date.parse) &&
      within(query, 'start_date', event.createdMs, Date.parse),
  );
}

interface Placed<T> {
  item: T;
  key: Value[];
}

/** Sorted by `order` (comma list), then by id. */
function sorted<T extends { id: string }>(
  world: PolymarketWorld,
  items: T[],
  query: URLSearchParams,
  orders: Record<string, Sorter<T>>,
): Placed<T>[] {
  const fields = (query.get('order') ?? '').split(',').filter((field) => field !== '');
  const down = fields.length > 0 && bool(query, 'ascending') === false;
  const sorters = fields.map((field) => {
    const sorter = orders[field];
    if (!sorter) throw new ValidationError('order fields are not valid');
    return sorter;
  });
  const placed = items.map((item) => ({
    item,
    key: [...sorters.map((sorter) => sorter(world, item)), Number(item.id)],
  }));
  return placed.toSorted((a, b) => (down ? compareKeys(b.key, a.key) : compareKeys(a.key, b.key)));
}

function compareKeys(a: Value[], b: Value[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? 0;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

export const orderMarkets = (world: PolymarketWorld, items: SimMarket[], query: URLSearchParams): Placed<SimMarket>[] =>
  sorted(world, items, query, MARKET_ORDERS);
export const orderEvents = (world: PolymarketWorld, items: SimEvent[], query: URLSearchParams): Placed<SimEvent>[] =>
  sorted(world, items, query, EVENT_ORDERS);

/** One page behind `after_cursor`. The next cursor comes with a full page only, even when nothing follows. */
export function keysetPage<T>(placed: Placed<T>[], query: URLSearchParams): { items: T[]; next: string | undefined } {
  if (query.has('offset')) throw new ValidationError('offset is not allowed on keyset endpoints');
  const limit = pageLimit(query);
  const down = query.get('ascending') === 'false' && query.has('order');
  const order = `${query.get('order') ?? ''}${down ? ' desc' : ''}`;
  const after = readCursor(query.get('after_cursor'), order);
  const behind =
    after === null
      ? placed
      : placed.filter(({ key }) => (down ? compareKeys(key, after) < 0 : compareKeys(key, after) > 0));
  const page = behind.slice(0, limit);
  const last = page.at(-1);
  const next =
    page.length === limit && last
      ? Buffer.from(JSON.stringify({ order, key: last.key })).toString('base64url')
      : undefined;
  return { items: page.map(({ item }) => item), next };
}

function readCursor(cursor: string | null, order: string): Value[] | null {
  if (cursor === null || cursor === '') return null;
  try {
    const read = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as { order: string; key: Value[] };
    if (read.order === order && Array.isArray(read.key)) return read.key;
  } catch {
    // Falls through to the one answer a bad cursor gets.
  }
  throw new ValidationError('invalid cursor');
}
