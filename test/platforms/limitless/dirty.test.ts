import { json, type SimReply, type SimRequest } from '../../simulators/lib/index.ts';
import { marketRow } from '../../simulators/limitless/rows.ts';
import { type Dirt, dirtyOf, type Excuse } from '../contract/dirty.ts';
import type { Row } from '../contract/truth.ts';
import type { LimitlessTruth } from './truth.ts';

/** What is odd about a market's row, and the fields that it may cost. */
const ODD_MARKETS: readonly { row: Row; excuse: Excuse; names: string }[] = [
  { row: { description: ['x'], proxyTitle: {} }, excuse: ['description', 'resolution_criteria'], names: 'description' },
  {
    row: { expirationTimestamp: 'never', expirationDate: 7 },
    excuse: ['trading_end_at', 'resolution_date'],
    names: 'expirationTimestamp',
  },
  { row: { categories: 'Sports', logo: 5 }, excuse: ['category', 'subcategory', 'tags'], names: 'categories' },
];
/** A market without its group has a title and a place of its own. */
const WITHOUT_GROUP: Excuse = [
  'title',
  'event_id',
  'event_name',
  'category',
  'subcategory',
  'tags',
  'source_url',
  'metadata',
];
const FAILURE = json(500, { statusCode: 500, message: 'Internal server error' });

/** The same facts in other types: nothing of the market may change. */
const retyped = (row: Row): Row => ({
  ...row,
  volume: Number(row['volume']),
  createdAt: String(row['createdAt']).replace('Z', '+00:00:00'),
  prices: (row['prices'] as number[]).map(String),
});

/**
 * Odd types in three markets, the same facts in other types in a fourth, 500 for the book of a fifth; a group that the listing names
 * unreadably, that answers 500, and of which one market leaves the listing; an old copy of a market that is resolved.
 */
function dirtOf(truth: LimitlessTruth): Dirt {
  const { world, clock } = truth;
  const single = truth.tradingMarkets().filter(({ group }) => group === null);
  const stale = single.at(-1)!;
  const [typed, bookless, ...others] = truth.trading().filter((slug) => slug !== stale.slug);
  const odd = new Map(ODD_MARKETS.map((dirt, at) => [others[at] ?? '', dirt]));

  const copy = json(200, marketRow(stale, 'detail', clock.now()));
  clock.run();
  world.resolve(stale.slug, 0);
  const unread = world.createGroup({ title: 'Which coast sees ___ first?', isNegRisk: true }, ['Terns', 'Gannets']);
  for (const child of unread.children) child.popularity = 0;
  clock.stop();
  const [gone] = unread.children;
  let isShown = false;

  const market = (row: Row): Row => {
    const slug = String(row['slug']);
    return { ...(slug === typed ? retyped(row) : row), ...odd.get(slug)?.row };
  };
  const listed = (row: Row): Row => {
    if (!Array.isArray(row['markets'])) return market(row);
    const markets = (row['markets'] as Row[]).map(market);
    if (row['slug'] !== unread.slug) return { ...row, markets, imageUrl: 5 };
    const shown = markets.filter(({ slug }) => !isShown || slug !== gone?.slug);
    isShown = true;
    return { ...row, slug: {}, markets: shown };
  };
  const edit = ({ path }: SimRequest, reply: SimReply): SimReply => {
    if (reply.status !== 200) return reply;
    if (path === `/markets/${unread.slug}` || path === `/markets/${bookless}/orderbook`) return FAILURE;
    if (path === `/markets/${stale.slug}`) return copy;
    if (path !== '/markets/active') return reply;
    const body = JSON.parse(reply.body) as { data: Row[] };
    return json(200, { ...body, data: [null, 'row', ...body.data.map(listed)] });
  };
  return {
    edit,
    excused: new Map<string, Excuse>([
      ...[...odd].map(([slug, { excuse }]) => [slug, excuse] as const),
      ...unread.children.map(({ slug }) => [slug, WITHOUT_GROUP] as const),
      [bookless ?? '', ['liquidity', 'liquidity_score', 'metadata', 'current_prices']],
      [stale.slug, 'all'],
    ]),
    named: [
      new RegExp(`event ${unread.slug}: could not be read`),
      ...[...odd].map(([slug, { names }]) => new RegExp(`market .*${slug}.*: ${names}: `)),
    ],
  };
}

dirtyOf('limitless', dirtOf);
