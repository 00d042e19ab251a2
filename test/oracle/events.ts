import type { SeriesSpec } from '../simulators/kalshi/series.ts';
import type { KalshiWorld } from '../simulators/kalshi/world.ts';
import type { LimitlessWorld } from '../simulators/limitless/world.ts';
import type { PolymarketWorld } from '../simulators/polymarket/world/world.ts';
import { rescale, toNumber } from './exact.ts';
import { limitlessMarket } from './limitless.ts';
import type { ServedMarket } from './pipeline.ts';
import { categoryOf } from './vocabulary.ts';

/** What an event is beside its figures, as its platform's world knows it. */
export interface EventTruth {
  event_id: string;
  series_id: string;
  title: string;
  category: string;
  tags: string[];
  mutually_exclusive: boolean | null;
  image_url: string;
  /** Whether the platform shows the image elsewhere than in its lists. */
  image_url_later: boolean;
  source_url: string;
  /** All its markets, as the platform orders them, and those that its list leaves out now. */
  order: string[];
  left_out: string[];
}

/** What a series is, as its platform's world knows it. */
export interface SeriesTruth {
  series_id: string;
  title: string;
  category: string;
  frequency: string;
}

const kalshiCategory = (series: SeriesSpec): string => categoryOf([series.category])?.name ?? series.category;

export const kalshiEvents = (world: KalshiWorld): EventTruth[] =>
  world.exchange.events.map(({ spec, markets }) => ({
    event_id: spec.ticker,
    series_id: spec.series.ticker,
    title: String(spec.fixed['title']),
    category: kalshiCategory(spec.series),
    tags: spec.series.tags ?? [],
    mutually_exclusive: spec.fixed['mutually_exclusive'] as boolean,
    image_url: `https://images.example.com/${spec.ticker}.webp`,
    image_url_later: true,
    source_url: `https://kalshi.com/markets/${spec.series.ticker}/${spec.ticker}`.toLowerCase(),
    order: markets.map(({ ticker }) => ticker),
    left_out: markets
      .filter((market) => market.vanished || world.exchange.isArchived(market))
      .map(({ ticker }) => ticker),
  }));

export const kalshiSeries = (world: KalshiWorld): SeriesTruth[] =>
  world.exchange.series.map((series) => ({
    series_id: series.ticker,
    title: series.title,
    category: kalshiCategory(series),
    frequency: series.frequency,
  }));

export const polymarketEvents = (world: PolymarketWorld): EventTruth[] =>
  world.events.map((event) => {
    const old = event.markets.find(({ legacy }) => legacy)?.legacy?.category;
    const words = event.tags.filter(({ label }) => label !== 'All');
    const shown = words.find(({ forceHide }) => !forceHide)?.label ?? '';
    return {
      event_id: event.id,
      series_id: event.series?.id ?? '',
      title: event.title,
      category:
        words.length > 0
          ? (categoryOf(words.map(({ slug }) => slug))?.name ?? shown)
          : (categoryOf([old ?? ''])?.name ?? old ?? ''),
      tags: event.tags.map(({ label }) => label),
      mutually_exclusive: event.negRisk,
      image_url: `https://images.example.org/${event.slug}.png`,
      image_url_later: false,
      source_url: `https://polymarket.com/event/${event.slug}`,
      order: event.markets.flatMap(({ id, negRiskOther }) => (negRiskOther ? [] : id)),
      left_out: [],
    };
  });

/** A series names no category of its own: that of its events stands. */
export const polymarketSeries = (world: PolymarketWorld): SeriesTruth[] => {
  const categories = new Map(polymarketEvents(world).map((event) => [event.series_id, event.category]));
  const listed = world.events.flatMap(({ series, archived }) => (series && !archived ? [series] : []));
  return [...new Set(listed)].map(({ id, title, recurrence }) => ({
    series_id: id,
    title,
    category: categories.get(id) ?? '',
    frequency: recurrence,
  }));
};

export const limitlessEvents = (world: LimitlessWorld): EventTruth[] =>
  [...world.groups.values()].map((group) => ({
    event_id: group.slug,
    series_id: '',
    title: group.title,
    category: categoryOf(group.categories)?.name ?? group.categories[0] ?? '',
    tags: [...new Set([...group.categories, ...group.tags])],
    mutually_exclusive: group.negRiskMarketId !== null,
    image_url: `https://cdn.limitless.exchange/groups-logo/${group.id}/logo.png`,
    image_url_later: false,
    source_url: `https://limitless.exchange/markets/${group.slug}`,
    order: group.children.map(({ slug }) => slug),
    left_out: [],
  }));

/** Known by its markets alone: they share a category, and nothing words a title. */
export const limitlessSeries = (world: LimitlessWorld): SeriesTruth[] =>
  world.series.map(({ stableSlug, minutes }) => {
    const [slot] = world.slotsOf(stableSlug);
    if (!slot) throw new Error(`the world has no market of ${stableSlug}`);
    const now = world.clock.now();
    const { category } = limitlessMarket(world, slot, { syncedMs: now, worldMs: now });
    return { series_id: stableSlug, title: '', category, frequency: minutes === 60 ? 'hourly' : `${minutes}m` };
  });

const SCALE = 6;
const exact = (value: number): bigint => {
  const [whole = '0', part = ''] = String(value).split('.');
  return rescale(BigInt(whole + part), part.length, SCALE);
};

/** Σ over markets, null when one of them is not known. */
function total(values: readonly (number | null)[]): number | null {
  if (values.includes(null)) return null;
  return toNumber(
    values.reduce((sum: bigint, value) => sum + exact(value ?? 0), 0n),
    SCALE,
  );
}

const FIRST = ['open', 'paused', 'unopened', 'closed', 'settled'];

/** The figures that an event of these markets must have. */
export function eventFigures(markets: readonly ServedMarket[]) {
  const ends = markets.map(({ trading_end_at: end }) => end);
  return {
    status: FIRST.find((status) => markets.some((market) => market.status === status)),
    markets_count: markets.length,
    open_markets: markets.filter(({ status }) => status === 'open').length,
    volume_24h: total(markets.map((market) => market.volume_24h)),
    volume_total: total(markets.map((market) => market.volume_total)),
    liquidity: total(markets.map((market) => market.liquidity)),
    trading_end_at: ends.includes(null) ? null : ends.toSorted().at(-1),
    ...inUsd(markets),
  };
}

const KNOWN = ['volume_24h', 'volume_7d', 'volume_total', 'liquidity'] as const;

/** Sums of what is known of an event's markets, and of how many of them it is. */
function inUsd(markets: readonly ServedMarket[]) {
  const known = KNOWN.map((name) => {
    const amounts = markets.map((market) => market[`${name}_usd`]).filter((amount) => amount !== null);
    return { name, sum: amounts.length === 0 ? null : total(amounts), markets: amounts.length };
  });
  return {
    ...Object.fromEntries(known.map(({ name, sum }) => [`${name}_usd`, sum])),
    usd_markets: Object.fromEntries(known.map(({ name, markets: count }) => [name, count])),
  };
}
