import { json, type SimReply, type SimRequest } from '../../simulators/lib/index.ts';
import { type Dirt, dirtyOf, type Excuse } from '../contract/dirty.ts';
import type { KalshiTruth } from './truth.ts';

type Row = Record<string, unknown>;

/** What is odd about a market's row, and the fields that it may cost. */
const ODD_MARKETS: readonly [Row, Excuse][] = [
  [
    { rules_primary: { text: 'moved' }, can_close_early: 'perhaps', custom_strike: 7, price_ranges: [{ start: [] }] },
    ['description', 'resolution_criteria', 'metadata'],
  ],
  [
    { close_time: 1_790_000_000, open_time: '2026-02-30T00:00:00Z', expected_expiration_time: 'soon' },
    ['trading_end_at', 'trading_start_at', 'resolution_date', 'volume_7d'],
  ],
  [{ title: ['a', 'b'], volume_24h_fp: '-5.00', open_interest_fp: 'n/a' }, ['title', 'volume_24h', 'open_interest']],
  [
    { event_ticker: {}, floor_strike: {}, rules_secondary: [] },
    ['resolution_criteria', 'resolution_source', 'source_url', 'metadata', 'title'],
  ],
];
const ODD_EVENT: Row = { settlement_sources: ['Source A', 7], mutually_exclusive: 'maybe', product_metadata: 'none' };
const OF_EVENT: Excuse = ['resolution_source', 'metadata', 'subcategory'];

/** The rows of a list in an answer, edited. */
function editRows(reply: SimReply, key: string, edit: (row: Row) => Row, extra: readonly unknown[] = []): SimReply {
  const body = JSON.parse(String(reply.body)) as Record<string, unknown>;
  const rows = body[key];
  if (!Array.isArray(rows)) return reply;
  return json(reply.status, { ...body, [key]: [...extra, ...rows.map((row: Row) => edit(row))] }, reply.headers);
}

function dirtOf(truth: KalshiTruth): Dirt {
  const trading = truth.trading();
  const odd = new Map(ODD_MARKETS.map(([change, excuse], at) => [trading[at] ?? '', { change, excuse }]));
  const [stale = ''] = trading.slice(ODD_MARKETS.length);
  const { spec } = truth.oneOf(({ ticker, status }) => status === 'active' && !odd.has(ticker) && ticker !== stale);
  const siblings = truth.listedMarkets().filter((market) => market.spec.eventTicker === spec.eventTicker);
  const firstSeen = new Map<unknown, Row>();
  const excused = new Map<string, Excuse>([
    ...siblings.map(({ ticker }) => [ticker, OF_EVENT] as const),
    ...[...odd].map(([ticker, { excuse }]) => [ticker, excuse] as const),
    [stale, 'all'],
  ]);

  const market = (row: Row): Row => {
    if (row['ticker'] === stale) {
      firstSeen.set(stale, firstSeen.get(stale) ?? row);
      return firstSeen.get(stale) ?? row;
    }
    return { ...row, ...odd.get(String(row['ticker']))?.change };
  };
  const event = (row: Row): Row => (row['event_ticker'] === spec.eventTicker ? { ...row, ...ODD_EVENT } : row);
  const failure = json(500, { error: { code: 'internal_error', message: 'internal server error' } });
  const edit = ({ path }: SimRequest, reply: SimReply): SimReply => {
    if (reply.status !== 200) return reply;
    if (path.endsWith('/series') || path.endsWith(`/events/${spec.eventTicker}/metadata`)) return failure;
    if (path.endsWith('/events')) return editRows(reply, 'events', event, [null, 'event']);
    return path.endsWith('/markets') ? editRows(reply, 'markets', market, [null]) : reply;
  };
  return { edit, excused, named: [/market /, /series .*could not be read/] };
}

dirtyOf('kalshi', dirtOf);
