import type { EventRecord, SeriesRecord } from '../../core/model.ts';
import { canonicalCategory, categorySlug } from '../categories.ts';
import { kebab } from '../market-fields.ts';
import { PERIOD, frequencyOf } from './frequency.ts';
import type { LimitlessGroup, LimitlessMarket } from './wire.ts';

type Filed = Pick<LimitlessMarket, 'categories' | 'category' | 'properties'>;
function words(row: Filed | null): string[] {
  if (row?.categories?.length) return row.categories;
  return row?.category ? [row.category] : [];
}
const domains = (row: Filed | null): string[] =>
  (row?.properties ?? [])
    .filter(({ propertyKeySlug }) => propertyKeySlug === 'domain')
    .flatMap(({ value }) => value?.slice(0, 1) ?? []);

/** Category and subcategory of a market, or of a group; `asset` is the asset of the market's price feed. */
export function categorize(
  market: Filed | null,
  group: Filed | null,
  asset = '',
): { category: string; subcategory: string | null } {
  const firstOf = (listOf: typeof words): string[] => [market, group].map(listOf).find((list) => list.length > 0) ?? [];
  const filed = firstOf(words);
  const categories = filed.filter((word) => !PERIOD.test(word.trim()));
  const listed = canonicalCategory(categories.map(kebab));
  const found = canonicalCategory(firstOf(domains).map(kebab)) ?? listed ?? canonicalCategory([kebab(asset)]);
  const at = found ? (listed?.slug === found.slug ? listed.index : -1) : 0;
  const category = found?.name ?? categories[0] ?? '';
  return { category, subcategory: (category && categories[at + 1]) || null };
}

export const limitlessPage = (slug: string): string => `https://limitless.exchange/markets/${slug}`;

/** A group. Only children of a negative-risk group exclude each other; those of a price ladder do not. */
export function mapLimitlessEvent(group: LimitlessGroup): EventRecord {
  const { category } = categorize(null, group);
  return {
    platform: 'limitless',
    eventId: group.slug,
    seriesId: '',
    slug: group.slug,
    title: group.title,
    category,
    categorySlug: categorySlug(category),
    tags: [...new Set([...(group.categories ?? []), ...(group.tags ?? [])])],
    mutuallyExclusive: Boolean(group.negRiskMarketId),
    imageUrl: group.imageUrl || group.logo || '',
    sourceUrl: limitlessPage(group.slug),
    marketIds: group.markets.flatMap((market) => textOf(market, 'slug') ?? []),
  };
}

/** A text of an unparsed row. */
export function textOf(row: unknown, key: string): string | undefined {
  const value: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, key) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The series of a recurring market, identified by its slug. */
export function mapLimitlessSeries(market: LimitlessMarket): SeriesRecord | null {
  if (!market.stableSlug) return null;
  const { category } = categorize(market, null, market.priceOracleMetadata?.assetType ?? '');
  return {
    platform: 'limitless',
    seriesId: market.stableSlug,
    title: '',
    category,
    categorySlug: categorySlug(category),
    frequency: frequencyOf(market),
  };
}
