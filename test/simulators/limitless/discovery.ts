import { json, type SimReply, type SimRequest } from '../lib/index.ts';
import { isExpired } from './lifecycle.ts';
import { TICKS, type ClobMarket, type Group, type Market } from './model.ts';
import { groupRow, groupStatus, iso, marketRow, type Place } from './rows.ts';
import { isKnownSymbol } from './underlying.ts';
import { choice, notFound, refuse, wholeNumber } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

const MAX_PAGE = 25;
const SORTS = ['trending', 'ending_soon', 'high_value', 'newest', 'lp_rewards', 'liquidity'] as const;
const CATEGORIES = ['Politics', 'Sports', 'Crypto', 'Economy', 'Finance', 'Culture', 'Minutely', 'Monthly', 'Science'];
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*-\d{10,13}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

type Top = { market: Market } | { group: Group };

/** GET /markets/active[/{categoryId}]: tradable rows only, a group counts once, nothing keeps rows from shifting between pages. */
export function active(world: LimitlessWorld, { query }: SimRequest, categoryId: string | null): SimReply {
  const page = wholeNumber(query, 'page', { or: 1, min: 1 });
  const limit = wholeNumber(query, 'limit', { or: MAX_PAGE, min: 1, max: MAX_PAGE });
  const tradeType = choice(query, 'tradeType', ['amm', 'clob', 'group']);
  const automationType = choice(query, 'automationType', ['manual', 'lumy', 'sports']);
  const sortBy = choice(query, 'sortBy', SORTS);
  const tops = listed(world).filter(
    (top) =>
      (tradeType === null || kindOf(top) === tradeType) &&
      (automationType === null || factsOf(top).automationType === automationType) &&
      (categoryId === null || factsOf(top).categories.includes(CATEGORIES[Number(categoryId) - 1] ?? '')),
  );
  const keys = new Map(tops.map((top) => [top, sortKey(top, sortBy ?? 'newest', world)]));
  const sorted = tops.toSorted(
    (a, b) => (keys.get(b) as number) - (keys.get(a) as number) || factsOf(b).id - factsOf(a).id,
  );
  const first = (page - 1) * limit;
  const data = sorted.slice(first, first + limit).map((top, i) => {
    const row = rowOf(top, 'listing', world.clock.now());
    const trends = { hourly: { value: keys.get(top), rank: first + i + 1 } };
    return sortBy === 'trending' ? Object.assign(row, { trends }) : row;
  });
  return json(200, { data, totalMarketsCount: tops.length });
}

/** GET /markets/active/slugs: everything tradable in one unpaged array. */
export function activeSlugs(world: LimitlessWorld): SimReply {
  const rows = listed(world).map((top) => {
    if ('group' in top) {
      const { slug, expiresAt, children } = top.group;
      return {
        slug,
        strikePrice: null,
        ticker: null,
        deadline: iso(expiresAt),
        markets: children.map((child) => ({ slug: child.slug })),
      };
    }
    const { market } = top;
    const series = market.kind === 'clob' ? market.series : null;
    const strike = series ? String(market.metadata['openPrice']) : null;
    return { slug: market.slug, strikePrice: strike, ticker: series?.symbol ?? null, deadline: iso(market.expiresAt) };
  });
  return json(200, rows);
}

/** GET /markets/{addressOrSlug}: everything that ever was, resolved, expired and hidden ones included. */
export function one(world: LimitlessWorld, key: string): SimReply {
  const now = world.clock.now();
  if (ADDRESS.test(key)) {
    const pool = world.poolAt(key);
    if (!pool) throw notFound(`Market not found for address: ${key}`);
    return json(200, marketRow(pool, 'detail', now));
  }
  const group = world.groups.get(key);
  return json(200, group ? groupRow(group, 'detail', now) : marketRow(findMarket(world, key), 'detail', now));
}

/** The market of a slug, or the platform's 400 for a malformed and 404 for an unknown one. */
export function findMarket(world: LimitlessWorld, slug: string): Market {
  const market = world.markets.get(slug);
  if (market && (market.kind === 'clob' || world.knowsPoolsBySlug)) return market;
  if (!SLUG.test(slug)) throw refuse(400, 'Invalid slug format. Expected format: text-with-numbers-timestamp');
  throw notFound(`Market not found for slug: ${slug}`);
}

/** GET /markets/search: by likeness, best first. */
export function search(world: LimitlessWorld, { query }: SimRequest): SimReply {
  const words = (query.get('query') ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? [];
  if (words.length === 0) throw refuse(400, [{ property: 'query', error: 'query should not be empty' }]);
  const limit = wholeNumber(query, 'limit', { or: 10, min: 1, max: 50 });
  const page = wholeNumber(query, 'page', { or: 1, min: 1 });
  const threshold = Number(query.get('similarityThreshold') ?? '0.5');
  const hits = listed(world)
    .map((top) => ({ top, likeness: words.filter((word) => textOf(top).includes(word)).length / words.length }))
    .filter(({ likeness }) => likeness > 0 && likeness >= threshold)
    .toSorted((a, b) => b.likeness - a.likeness || factsOf(b.top).id - factsOf(a.top).id);
  const markets = hits
    .slice((page - 1) * limit, page * limit)
    .map(({ top }) => rowOf(top, 'listing', world.clock.now()));
  return json(200, { markets, totalMarketsCount: hits.length });
}

export const categories = (): SimReply =>
  json(
    200,
    CATEGORIES.map((name, i) => ({ id: i + 1, name, priority: CATEGORIES.length - i, metadata: {} })),
  );

export function categoryCounts(world: LimitlessWorld): SimReply {
  const tops = listed(world);
  const counts = CATEGORIES.map((name, i) => [
    String(i + 1),
    tops.filter((top) => factsOf(top).categories.includes(name)).length,
  ]);
  return json(200, { category: Object.fromEntries(counts), totalCount: tops.length });
}

/** GET /markets/timeline?symbol=&frequency=&subFrequency= and /markets/{slug}/timeline: how the slug of a slot not yet open is learnt. */
export function timeline(world: LimitlessWorld, { query }: SimRequest, slug: string | null): SimReply {
  const before = wholeNumber(query, 'before', { or: 1, min: 0, max: 500 });
  const after = wholeNumber(query, 'after', { or: 1, min: 0, max: 500 });
  const slots = world.slotsOf(slug === null ? seriesAsked(world, query) : seriesOfSlug(world, slug));
  const now = world.clock.now();
  const at = slots.findIndex((slot) => now < slot.expiresAt);
  const show = (slot: ClobMarket | undefined) => slot && slotRow(slot, now);
  const batch = slots.slice(Math.max(0, at - before), at + 1 + after);
  return json(200, {
    current: show(slots[at]) ?? null,
    next: show(slots[at + 1]) ?? null,
    batch: batch.map((slot) => slotRow(slot, now, slots.indexOf(slot) - at)),
  });
}

function seriesAsked(world: LimitlessWorld, query: URLSearchParams): string {
  const symbol = query.get('symbol') ?? '';
  if (!isKnownSymbol(symbol)) throw refuse(400, [{ property: 'symbol', error: 'symbol is not supported' }]);
  const frequency = choice(query, 'frequency', ['minutely', 'hourly', 'daily', 'weekly']);
  const subFrequency = choice(query, 'subFrequency', ['minutes_5', 'minutes_15', 'hours_1']);
  const series = world.series.find(
    (one) =>
      one.symbol === symbol &&
      (frequency === null || one.frequency === frequency) &&
      (subFrequency === null || one.subFrequency === subFrequency),
  );
  if (!series) throw notFound(`Timeline not found for symbol: ${symbol}`);
  return series.stableSlug;
}

function seriesOfSlug(world: LimitlessWorld, slug: string): string {
  if (world.series.some((series) => series.stableSlug === slug)) return slug;
  const market = findMarket(world, slug);
  if (market.kind === 'clob' && market.series) return market.series.stableSlug;
  throw notFound(`Timeline not found for slug: ${slug}`);
}

function slotRow(slot: ClobMarket, now: number, index?: number) {
  const startAt = slot.startAt as number;
  const state =
    slot.status === 'RESOLVED' ? 'SETTLED' : now < startAt ? 'PRE_OPEN' : isExpired(slot, now) ? 'SETTLING' : 'OPEN';
  const turn = state === 'PRE_OPEN' ? startAt : slot.expiresAt;
  return {
    ...(index !== undefined && { index }),
    slotId: slot.id,
    slug: slot.slug,
    state,
    tradable: state === 'OPEN',
    startAt: iso(startAt),
    endAt: iso(slot.expiresAt),
    countdownSec: Math.max(0, Math.floor((turn - now) / 1000)),
  };
}

function listed(world: LimitlessWorld): Top[] {
  const now = world.clock.now();
  const isOpen = (status: string, expiresAt: number): boolean =>
    /^(MarketStatus\.)?FUNDED/.test(status) && now < expiresAt;
  const tops: Top[] = [];
  for (const market of world.markets.values()) {
    const isChild = market.kind === 'clob' && market.group !== null;
    if (!isChild && !market.hidden && isOpen(market.status, market.expiresAt)) tops.push({ market });
  }
  for (const group of world.groups.values()) if (isOpen(groupStatus(group), group.expiresAt)) tops.push({ group });
  return tops;
}

function sortKey(top: Top, sortBy: (typeof SORTS)[number], world: LimitlessWorld): number {
  const clobs = 'group' in top ? top.group.children : top.market.kind === 'clob' ? [top.market] : [];
  const facts = factsOf(top);
  switch (sortBy) {
    case 'newest':
      return facts.createdAt;
    case 'ending_soon':
      return -facts.expiresAt;
    case 'high_value':
      return clobs.reduce((sum, { volume }) => sum + Number(volume), 0);
    case 'lp_rewards':
      return clobs.reduce((sum, { dailyRewardUsd }) => sum + dailyRewardUsd, 0);
    case 'trending':
      return clobs.reduce((sum, { trades }) => sum + tradesSince(trades, world.clock.now() - 3_600_000), 0);
    case 'liquidity':
      return clobs.reduce((sum, market) => sum + Number(restingUsd(market)), 0);
  }
}

function tradesSince(trades: readonly { at: number }[], since: number): number {
  let count = 0;
  for (let i = trades.length - 1; i >= 0 && (trades[i] as { at: number }).at >= since; i--) count += 1;
  return count;
}

const restingUsd = ({ book }: ClobMarket): bigint =>
  book.bids.reduce((sum, { tick, size }) => sum + size * BigInt(tick), 0n) +
  book.asks.reduce((sum, { tick, size }) => sum + size * BigInt(TICKS - tick), 0n);

const factsOf = (top: Top): Market | Group => ('group' in top ? top.group : top.market);
const kindOf = (top: Top): 'amm' | 'clob' | 'group' => ('group' in top ? 'group' : top.market.kind);
const textOf = (top: Top): string =>
  ('group' in top
    ? [top.group.title, ...top.group.children.map((child) => child.title)].join(' ')
    : top.market.title
  ).toLowerCase();
const rowOf = (top: Top, place: Place, now: number) =>
  'group' in top ? groupRow(top.group, place, now) : marketRow(top.market, place, now);
