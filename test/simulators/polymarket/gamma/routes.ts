import { json, type SimReply, type SimRequest } from '../../lib/index.ts';
import { eventRow, marketRow, seriesRow, tagRow } from './rows.ts';
import {
  findEvents,
  findMarkets,
  integer,
  keysetPage,
  orderEvents,
  orderMarkets,
  pageLimit,
  ValidationError,
} from './lists.ts';
import { isClosed, type SimEvent, type SimMarket, type SimSport, type SimWallet } from '../world/model.ts';
import { isClosedEvent } from '../world/stats.ts';
import type { PolymarketWorld } from '../world/world.ts';

const notFound = (what: string): SimReply => json(404, { type: 'not found error', error: `${what} not found` });

/** Gamma, the catalog. `path` is relative to its base. */
export function gamma(world: PolymarketWorld, path: string, request: SimRequest): SimReply {
  try {
    return route(world, path, request.query) ?? json(404, { type: 'not found error', error: 'route not found' });
  } catch (error) {
    if (error instanceof ValidationError) return json(422, { type: 'validation error', error: error.message });
    throw error;
  }
}

function route(world: PolymarketWorld, path: string, query: URLSearchParams): SimReply | null {
  const [, kind = '', one = '', two = ''] = path.split('/');
  if (kind === 'markets') return markets(world, one, two, query);
  if (kind === 'events') return events(world, one, two, query);
  if (kind === 'tags') return tags(world, one, two, query);
  if (kind === 'series') {
    if (one === '') return json(200, sliced(world.catalog.series, query).map(seriesRow));
    const series = world.catalog.series.find(({ id }) => id === one);
    return series ? json(200, seriesRow(series)) : notFound('series');
  }
  if (kind === 'sports' && one === 'market-types')
    return json(200, { marketTypes: ['moneyline', 'spreads', 'totals'] });
  if (kind === 'sports') return json(200, sports(world));
  if (kind === 'public-search') return json(200, search(world, query));
  if (kind === 'public-profile') {
    const wallet = world.walletOf(query.get('address') ?? '');
    return wallet ? json(200, profileRow(world, wallet)) : notFound('profile');
  }
  return null;
}

function markets(world: PolymarketWorld, one: string, two: string, query: URLSearchParams): SimReply {
  const row = (market: SimMarket, extra = {}) => ({
    ...extra,
    ...marketRow(world, market, { parents: true, tags: query.get('include_tag') === 'true' }),
  });
  if (one === '') {
    const placed = orderMarkets(world, findMarkets(world, query, false), query);
    const page = sliced(placed, query).map(({ item }) => row(item));
    drift(world);
    return json(200, page, deprecated('/markets/keyset'));
  }
  if (one === 'keyset') {
    const { items, next } = keysetPage(orderMarkets(world, findMarkets(world, query, false), query), query);
    return json(200, { ...schema('MarketsKeyset'), markets: items.map((market) => row(market)), next_cursor: next });
  }
  const market = one === 'slug' ? world.markets.find(({ slug }) => slug === two) : world.catalog.market(numeric(one));
  if (!market) return notFound('market');
  if (two === 'tags') return json(200, market.event.tags.map(tagRow));
  return json(200, row(market, schema('Market')));
}

function events(world: PolymarketWorld, one: string, two: string, query: URLSearchParams): SimReply {
  const row = (event: SimEvent) => eventRow(world, event, { markets: query.get('include_markets') !== 'false' });
  if (one === '') {
    const placed = orderEvents(world, findEvents(world, query, false), query);
    const page = sliced(placed, query).map(({ item }) => row(item));
    drift(world);
    return json(200, page, deprecated('/events/keyset'));
  }
  if (one === 'keyset') {
    // Only the market lists are documented to hide closed rows by default.
    const { items, next } = keysetPage(orderEvents(world, findEvents(world, query, null), query), query);
    return json(200, { ...schema('EventsKeyset'), events: items.map(row), next_cursor: next });
  }
  const event = one === 'slug' ? world.events.find(({ slug }) => slug === two) : world.catalog.event(numeric(one));
  if (!event) return notFound('event');
  if (two === 'tags') return json(200, event.tags.map(tagRow));
  return json(200, { ...schema('Event'), ...row(event) });
}

function tags(world: PolymarketWorld, one: string, two: string, query: URLSearchParams): SimReply {
  if (one === '') return json(200, sliced(world.catalog.tags, query).map(tagRow));
  const tag = world.catalog.tags.find(({ id, slug }) => (one === 'slug' ? slug === two : id === one));
  return tag ? json(200, tagRow(tag)) : notFound('tag');
}

const schema = (name: string) => ({ $schema: `https://gamma-api.polymarket.com/schemas/${name}.json` });

function numeric(id: string): string {
  if (!/^\d{1,18}$/.test(id)) throw new ValidationError('id is invalid');
  return id;
}

/** The offset lists answer on, past their announced end. */
const deprecated = (successor: string): Record<string, string> => ({
  deprecation: 'true',
  sunset: 'Fri, 01 May 2026 00:00:00 GMT',
  warning: `299 - "use ${successor}"`,
  'cache-control': 'public, max-age=300',
});

function sliced<T>(items: readonly T[], query: URLSearchParams): T[] {
  const offset = integer(query, 'offset', 0);
  if (offset > 2000) throw new ValidationError('offset is too large, use the keyset endpoints');
  return items.slice(offset, offset + pageLimit(query));
}

/** Offset lists move under the reader. */
function drift(world: PolymarketWorld): void {
  for (let i = 0; i < world.drift.markets; i++) {
    world.createMarket({ question: `Listed while you were reading ${world.markets.length}?` });
  }
}

function sports(world: PolymarketWorld): unknown[] {
  const seen = new Map(world.events.flatMap(({ sport }) => (sport ? [[sport.id, sport] as const] : [])));
  return [...seen.values()].map(sportRow);
}

const sportRow = (sport: SimSport) => ({
  ...sport,
  image: `https://images.example.org/${sport.sport}.png`,
  resolution: 'https://league.example.org/',
  ordering: 'away',
  primaryTagId: Number(sport.tags.split(',')[0]),
  createdAt: '2025-11-05T19:27:45.399303Z',
});

const profileRow = (world: PolymarketWorld, wallet: SimWallet) => ({
  createdAt: '2024-06-11T08:15:30Z',
  proxyWallet: wallet.address,
  profileImage: wallet.profileImage,
  displayUsernamePublic: wallet.displayUsernamePublic,
  bio: wallet.bio,
  pseudonym: wallet.pseudonym,
  name: wallet.name,
  users: [{ id: String(1000 + wallet.index), creator: false, mod: false }],
  verifiedBadge: wallet === world.demoUser,
});

/** Words anywhere in the title; profiles by the start of their name, with the nulls the platform leaves in. */
function search(world: PolymarketWorld, query: URLSearchParams): unknown {
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const per = integer(query, 'limit_per_type', 10, 1);
  const from = (integer(query, 'page', 1, 1) - 1) * per;
  const wanted = query.get('events_status');
  const found = world.events.filter(
    (event) =>
      !event.archived &&
      words.every((word) => event.title.toLowerCase().includes(word)) &&
      (wanted === null || (wanted === 'active') !== isClosedEvent(event)),
  );
  const keepClosed = query.get('keep_closed_markets') !== '0';
  const foundRow = (event: SimEvent) => {
    const kept = keepClosed ? event.markets : event.markets.filter((market) => !isClosed(market));
    return { ...eventRow(world, event, { markets: false }), markets: kept.map((market) => marketRow(world, market)) };
  };
  const named = world.wallets.filter(
    ({ name }) => name !== '' && words.length > 0 && name.toLowerCase().startsWith(words.join(' ')),
  );
  const profiles =
    query.get('search_profiles') === 'true'
      ? [null, ...named.slice(0, per).map((one) => profileRow(world, one)), null]
      : undefined;
  const tags = world.catalog.tags.filter(({ label }) => words.some((word) => label.toLowerCase().includes(word)));
  return {
    events: found.slice(from, from + per).map(foundRow),
    tags: query.get('search_tags') === 'true' ? tags.map(tagRow) : undefined,
    profiles,
    pagination: { hasMore: from + per < found.length, totalResults: found.length },
  };
}
