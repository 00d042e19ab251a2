import { z } from 'zod';
import type { FoundIssue } from '../../core/errors.ts';
import { MARKET_STATUSES, PLATFORMS, unifiedId, type Platform } from '../../core/model.ts';
import { ADDRESS } from '../../core/text.ts';
import { eventsNamed, normalId } from '../../markets/directory.ts';
import { categorySlug } from '../../platforms/categories.ts';
import { MANIFESTS } from '../../platforms/manifests.ts';
import { type FoundRow, listPresent } from '../../present/list.ts';
import type { SEARCH_ORDERS } from '../../present/list-orders.ts';
import type { ListPlace } from '../../present/places.ts';
import type { SearchResult } from '../../schemas/events.ts';
import { eventAnswer } from '../events/events.ts';
import { seriesAnswer } from '../events/series.ts';
import { directionIssues, expiredCursor, hiddenShown, isReversed, settledAt } from '../listing-pages.ts';
import { marketAnswer, type Reading } from '../markets-by-key.ts';
import type { MarketFilter } from '../markets-list.ts';
import { searchedIds } from '../search-terms.ts';
import { walletFigures, walletMarkets } from '../wallet.ts';

export type Result = z.infer<typeof SearchResult>;
/** Types of results. Of two results that fit equally well, the one whose type is named first comes first. */
export const SEARCH_TYPES = ['markets', 'events', 'series', 'wallets'] as const;
type SearchType = (typeof SEARCH_TYPES)[number];
type Order = (typeof SEARCH_ORDERS)[number];
/** Types whose rows are in PostgreSQL. */
const LISTED = ['markets', 'events', 'series'] as const;
type ListedType = (typeof LISTED)[number];
/** Orders by a figure that one type alone has. */
const ORDERS_OF_ONE: Partial<Record<Order, ListedType>> = {
  markets: 'events',
  price: 'markets',
  spread: 'markets',
  price_change_24h: 'markets',
  resolved: 'markets',
};
const KINDS = { markets: 'market', events: 'event', series: 'series' } as const;

/** Markets of wallets that a list is chosen from: the most traded. */
const MOST_MARKETS = 10_000;

/** Parsed parameters of GET search. */
interface SearchFilter extends Omit<MarketFilter, 'provider' | 'query' | 'sort'> {
  sort?: Order | undefined;
  q: string;
  /** Only markets in which one of these wallets took a trade. */
  addresses?: readonly string[] | undefined;
  types: readonly SearchType[];
  platforms: readonly Platform[];
}

const Versions = z.partialRecord(z.enum(PLATFORMS), z.int());
/** The last row of a page, and the lists as they were at the first page. */
export const SearchPosition = z.object({
  asOf: z.string(),
  versions: z.partialRecord(z.enum(LISTED), Versions),
  total: z.int(),
  isLastLeftOut: z.boolean().default(false),
  place: z.string(),
  type: z.enum(LISTED),
  key: z.string(),
});
type SearchPosition = z.infer<typeof SearchPosition>;

/** The position after a page that has only a wallet. */
const BEFORE_ALL = { place: String(-(1n << 63n)), type: 'markets', key: '' } as const;

interface Placed extends FoundRow {
  type: ListedType;
}

/** A page of what fits a text, the best first. One statement a type; wallets are found by their address, on the first page. */
export async function searchAll(
  reading: Reading,
  filter: SearchFilter,
  { position, nowMs, limit }: { position: SearchPosition | null; nowMs: number; limit: number },
): Promise<{ total: number; results: Result[]; next: SearchPosition | null }> {
  const asOf = position?.asOf ?? settledAt(nowMs);
  const types = LISTED.filter((type) => filter.types.includes(type) && (type !== 'series' || hasSeries(filter)));
  const keys = await tradedKeys(reading, filter);
  const [wallets, ...read] = await Promise.all([
    position ? [] : walletsOf(reading, filter),
    ...types.map((type) => pageOf(reading, filter, type, { asOf, position, limit, keys })),
  ]);
  const pages = needingLast(read);
  // Rows of one type are in their order already.
  const rows = pages.length === 1 ? (pages[0]?.rows ?? []) : pages.flatMap(({ rows: own }) => own).toSorted(inOrder);
  const room = limit - wallets.length;
  const shown = rows.slice(0, room);
  const last = rows.length > room ? (shown.at(-1) ?? BEFORE_ALL) : undefined;
  const total = position?.total ?? pages.reduce((sum, page) => sum + page.total, wallets.length);
  const versions = Object.fromEntries(types.map((type, n) => [type, pages[n]?.versions ?? {}]));
  return {
    total,
    results: [...wallets, ...shown.flatMap((row) => resultOf(row, reading.clock.now()) ?? [])],
    next: last
      ? {
          asOf,
          versions,
          total,
          isLastLeftOut: pages.some((page) => page.isLastLeftOut),
          place: last.place,
          type: last.type,
          key: last.key,
        }
      : null,
  };
}

/**
 * A type without matches is searched again without the last word. If another type has matches with that word, only matches with it are
 * shown.
 */
function needingLast<T extends { total: number; rows: Placed[]; isLastLeftOut: boolean }>(pages: readonly T[]): T[] {
  const isNeeded = pages.some(({ rows, isLastLeftOut }) => rows.length > 0 && !isLastLeftOut);
  return pages.map((page) =>
    isNeeded && page.isLastLeftOut ? { ...page, total: 0, rows: [], isLastLeftOut: false } : page,
  );
}

/** The order of a search: as asked for, else how well it fits, else by volume in USD. `match` without a text is the order by volume. */
const orderOf = ({ sort = 'match', q }: Pick<SearchFilter, 'sort' | 'q'>): Order =>
  sort === 'match' && q === '' ? 'volume_24h_usd' : sort;

/** The issues of an order, a direction or a filter that one of the types does not support. */
export function issuesOfTypes(
  { q = '', sort, order, addresses, types = [] }: Partial<SearchFilter>,
  failing: ReadonlySet<string>,
): FoundIssue[] {
  const given = [
    { field: 'sort', only: sort && ORDERS_OF_ONE[sort] },
    { field: 'order', only: order && 'markets' },
    { field: 'addresses', received: `${addresses?.length} addresses`, only: addresses && 'markets' },
  ];
  const ofOne = given.flatMap(({ only, ...named }) =>
    only === undefined || types.every((type) => type === only)
      ? []
      : [{ ...named, expected: `no value, or types=${only}: the other types do not support it` }],
  );
  const isOrderNamed = ofOne.some(({ field }) => field === 'order');
  return [...ofOne, ...(isOrderNamed || failing.has('sort') ? [] : directionIssues(orderOf({ sort, q }), order))];
}

/** Series have no state, event, end or liquidity. A filter by one of these excludes series. */
const hasSeries = (filter: SearchFilter): boolean =>
  [filter.status, filter.event_id, filter.min_liquidity, filter.ends_after, filter.ends_before].every(
    (value) => value === undefined,
  );

const rank = (type: ListedType): number => LISTED.indexOf(type);

function inOrder(a: Placed, b: Placed): number {
  const [left, right] = [BigInt(a.place), BigInt(b.place)];
  if (left !== right) return left < right ? -1 : 1;
  if (a.type !== b.type) return rank(a.type) - rank(b.type);
  return BigInt(a.key) < BigInt(b.key) ? -1 : 1;
}

/** Where the rows of a type go on after the last row of a page, which may be of another type. */
function placeOf(type: ListedType, position: SearchPosition): ListPlace {
  const { versions, place, key, type: last } = position;
  const from = rank(type) - rank(last);
  return { versions: versions[type] ?? {}, place, key: from === 0 ? key : from < 0 ? '' : null };
}

async function pageOf(
  { postgres }: Reading,
  filter: SearchFilter,
  type: ListedType,
  {
    asOf,
    position,
    limit,
    keys,
  }: { asOf: string; position: SearchPosition | null; limit: number; keys: readonly string[] | undefined },
) {
  const { platforms, q } = filter;
  const order = orderOf(filter);
  const found = await listPresent(postgres, {
    kind: KINDS[type],
    platforms,
    order: order === 'match' ? 'match_usd' : order,
    isReversed: isReversed(order, filter.order),
    hidden: hiddenShown(filter),
    statuses: filter.status === undefined ? MARKET_STATUSES : [filter.status],
    category: filter.category === undefined ? undefined : categorySlug(filter.category),
    events: filter.event_id === undefined ? undefined : eventsNamed(platforms, filter.event_id),
    keys,
    minLiquidityUsd: filter.min_liquidity,
    endsAfterMs: filter.ends_after,
    endsBeforeMs: filter.ends_before,
    search: q === '' ? undefined : { ...searchOf(q), lastWord: lastWordOf(position) },
    atMs: Date.parse(asOf),
    after: position && placeOf(type, position),
    limit,
  });
  if (!found) throw expiredCursor();
  return { ...found, rows: found.rows.map((row): Placed => Object.assign(row, { type })) };
}

/** Later pages leave the last word out if the first one did. */
const lastWordOf = (position: SearchPosition | null) =>
  position === null ? 'wanted' : position.isLastLeftOut ? 'left_out' : 'needed';

/** The words of a text, and the ids that it may be; of an address of a platform's site, the id that it ends with. */
function searchOf(q: string) {
  const page = pageOfSite(q);
  if (!page)
    return { query: q, ids: Object.fromEntries(PLATFORMS.map((platform) => [platform, searchedIds(platform, q)])) };
  const id = page.name === '' ? null : normalId(page.platform, page.name);
  return { query: '', ids: { [page.platform]: id === null ? [] : [id] } };
}

/** The page of a platform that an address names, with or without its scheme; null if it is none. */
function pageOfSite(q: string): { platform: Platform; name: string } | null {
  const text = q.trim();
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (/\s/.test(text) || !URL.canParse(address)) return null;
  const { hostname, pathname } = new URL(address);
  const platform = PLATFORMS.find((one) => `.${hostname}`.endsWith(`.${MANIFESTS[one].site}`));
  return platform === undefined ? null : { platform, name: pathname.split('/').findLast((part) => part !== '') ?? '' };
}

/** The markets that wallets traded, by key; undefined if no wallet is given. */
async function tradedKeys(
  { clickhouse }: Reading,
  { addresses, platforms }: SearchFilter,
): Promise<string[] | undefined> {
  if (!addresses) return undefined;
  return (await walletMarkets(clickhouse, addresses, platforms, MOST_MARKETS)).map(({ market_key: key }) => key);
}

/** The wallet of an address that has traded. */
async function walletsOf({ clickhouse }: Reading, { q, types, platforms }: SearchFilter): Promise<Result[]> {
  const address = q.trim().toLowerCase();
  if (!types.includes('wallets') || !ADDRESS.test(address)) return [];
  const shown = platforms.filter((one) => MANIFESTS[one].showsWallets);
  if (shown.length === 0) return [];
  const wallet = await walletFigures(clickhouse, address, shown);
  if (wallet.trades === 0) return [];
  return [
    {
      type: 'wallet',
      id: address,
      platform: null,
      title: address,
      subtitle: wallet.names.join(', '),
      match: 'id',
      wallet,
    },
  ];
}

function resultOf({ type, platform, market, event, series, match: fit }: Placed, nowMs: number): Result | null {
  const match = fit ?? null;
  if (type === 'markets') {
    if (!market) return null;
    const answer = marketAnswer(platform, market, nowMs);
    const { id, title, event_name: name, outcome_name: outcome } = answer;
    return {
      type: 'market',
      id,
      platform,
      title,
      subtitle: name !== title ? name : (outcome ?? ''),
      match,
      market: answer,
    };
  }
  if (type === 'events') {
    if (!event) return null;
    const answer = eventAnswer(platform, event);
    return {
      type: 'event',
      id: answer.id,
      platform,
      title: answer.title,
      subtitle: answer.category,
      match,
      event: answer,
    };
  }
  if (!series) return null;
  const answer = seriesAnswer(platform, series);
  const { title, series_id: id, category } = answer;
  return {
    type: 'series',
    id: unifiedId(platform, id),
    platform,
    title: title || id,
    subtitle: category,
    match,
    series: answer,
  };
}
