import type { EventRecord, SeriesRecord } from '../../core/model.ts';
import { canonicalCategory, categorySlug } from '../categories.ts';
import { countedPeriod, kebab } from '../market-fields.ts';
import type { GammaEvent, GammaMarket } from './gamma-wire.ts';

/** The platform's home page. */
export const SITE = 'https://polymarket.com';
/** The page of the event of this slug. */
export const eventUrl = (slug: string): string => `${SITE}/event/${slug}`;

const DAY_MINUTES = 24 * 60;

interface Classification {
  category: string;
  categorySlug: string;
  subcategory: string | null;
  tags: string[];
}

/**
 * Category: the first tag that is in the vocabulary (the site hides these: `forceHide`), else the first shown tag. Markets of 2020 have the
 * tag All and a category of their own or of their event, which counts as a tag. Subcategory: the sport, else the next shown tag.
 */
export function classification(
  market: Pick<GammaMarket, 'tags' | 'category'> | null,
  event: GammaEvent | null,
): Classification {
  const tags = event !== null && event.tags.length > 0 ? event.tags : (market?.tags ?? []);
  const telling = tags.filter(({ slug }) => slug !== 'all');
  const old = market?.category || (event?.category ?? '');
  const words = telling.length > 0 ? telling : [{ label: old, slug: kebab(old), forceHide: false }];
  const known = canonicalCategory(words.map((tag) => tag.slug));
  const index = known?.index ?? words.findIndex(isShown);
  const category = known?.name ?? words[index]?.label ?? '';
  const others = words
    .slice(index + 1)
    .filter((tag) => isShown(tag) && canonicalCategory([tag.slug])?.name !== category)
    .map(({ label }) => label);
  return {
    category,
    categorySlug: categorySlug(category),
    subcategory: (category === 'Sports' ? sportOf(event?.sport?.name ?? '', others) : others[0]) || null,
    tags: [...new Set(tags.map((tag) => tag.label).filter((label) => label !== ''))],
  };
}

/** Words that name no sport and no league: `International` is the name of a kind of cricket. */
const UNTELLING = new Set(
  (
    'all club clubs day days domestic friendlies friendly game games general international internationals league leagues live ' +
    'match matches men mens national one other others playoffs pro professional qualifier qualifiers regular season series sport ' +
    'sports team teams test tests tour tournament tournaments women womens'
  ).split(' '),
);
const isTelling = (label: string): boolean =>
  label
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .some((word) => word !== '' && !UNTELLING.has(word));

/** The first of the sport's name and the tags that names a sport; without one, the sport's name, or the first tag. */
const sportOf = (name: string, tags: readonly string[]): string =>
  [name, ...tags].find(isTelling) ?? (name || (tags[0] ?? ''));

const isShown = (tag: { forceHide: boolean | null }): boolean => tag.forceHide !== true;

/** An event as described by its own route. The outcomes of a negative-risk event exclude each other. */
export function mapPolymarketEvent(event: GammaEvent, market: GammaMarket): EventRecord {
  const { category, categorySlug: slug, tags } = classification(market, event);
  return {
    platform: 'polymarket',
    eventId: event.id,
    seriesId: event.series[0]?.id ?? '',
    slug: event.slug,
    title: event.title,
    category,
    categorySlug: slug,
    tags,
    mutuallyExclusive: event.negRisk,
    imageUrl: event.image || event.icon,
    sourceUrl: event.slug ? eventUrl(event.slug) : '',
    marketIds: event.markets.map(({ id }) => id).filter(Boolean),
  };
}

/** The first series of an event; it has no category of its own, so the event's is used. */
export function mapPolymarketSeries(event: GammaEvent): SeriesRecord | null {
  const [series] = event.series;
  if (!series) return null;
  const { category, categorySlug: slug } = classification(null, event);
  return {
    platform: 'polymarket',
    seriesId: series.id,
    title: series.title,
    category,
    categorySlug: slug,
    frequency: (DAY_OR_LESS.has(series.recurrence) ? periodOf(series.slug) : null) ?? (series.recurrence || null),
  };
}

/** Words of the platform for a series that may have a shorter period: it calls btc-up-or-down-4h daily. */
const DAY_OR_LESS: ReadonlySet<string> = new Set(['', 'hourly', 'daily']);

/** The period at the end of a series' slug. Periods divide a day. */
function periodOf(slug: string): string | null {
  const [, count, unit] = /-(\d{1,4})(m|h)$/.exec(slug) ?? [];
  const isPart = DAY_MINUTES % (Number(count) * (unit === 'h' ? 60 : 1)) === 0;
  return isPart ? countedPeriod(`${count}${unit}`) : null;
}
