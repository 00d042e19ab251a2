import type { KalshiWorld } from '../simulators/kalshi/world.ts';
import type { LimitlessWorld } from '../simulators/limitless/world.ts';
import type { PolymarketWorld } from '../simulators/polymarket/world/world.ts';
import { rescale, toNumber } from './exact.ts';
import type { ServedMarket } from './pipeline.ts';
import { categoryOf } from './vocabulary.ts';

/** What an event is beside its figures, as its platform's world knows it. `order` is that of the platform, as far as it shows one. */
export interface EventTruth {
  event_id: string;
  series_id: string;
  title: string;
  category: string;
  tags: string[];
  mutually_exclusive: boolean | null;
  image_url: string;
  source_url: string;
  order: string[];
}

export const kalshiEvents = (world: KalshiWorld): EventTruth[] =>
  world.exchange.events
    .filter(({ spec }) => !spec.combo)
    .map(({ spec, markets }) => ({
      event_id: spec.ticker,
      series_id: spec.series.ticker,
      title: String(spec.fixed['title']),
      category: categoryOf([spec.series.category])?.name ?? spec.series.category,
      tags: spec.series.tags ?? [],
      mutually_exclusive: spec.fixed['mutually_exclusive'] as boolean,
      image_url: `https://images.example.com/${spec.ticker}.webp`,
      source_url: `https://kalshi.com/markets/${spec.series.ticker}/${spec.ticker}`.toLowerCase(),
      order: markets
        .filter((market) => !market.vanished && !world.exchange.isArchived(market))
        .map(({ ticker }) => ticker),
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
      source_url: `https://polymarket.com/event/${event.slug}`,
      order: event.markets.map(({ id }) => id),
    };
  });

export const limitlessEvents = (world: LimitlessWorld): EventTruth[] =>
  [...world.groups.values()].map((group) => ({
    event_id: group.slug,
    series_id: '',
    title: group.title,
    category: categoryOf(group.categories)?.name ?? group.categories[0] ?? '',
    tags: [...new Set([...group.categories, ...group.tags])],
    mutually_exclusive: group.negRiskMarketId !== null,
    image_url: '',
    source_url: `https://limitless.exchange/markets/${group.slug}`,
    order: group.children.map(({ slug }) => slug),
  }));

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
  };
}
