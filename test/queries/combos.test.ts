import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import { MarketSweeper } from '../../ingest/markets/market-sweep.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { EventRecord, MarketRecord } from '../../src/core/model.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { LEASE, market, type MarketStore, startMarketStore, trade, usd } from '../helpers/market-store.ts';
import { listingClock } from '../helpers/virtual-clock.ts';

const WORDS = 'combinationtest';
const LEGS = [
  { id: 'kalshi:A', market_id: 'A', event_id: 'GAME', side: 'yes' },
  { id: 'kalshi:B', market_id: 'B', event_id: 'GAME', side: 'no' },
];
let store: MarketStore;

const event = (eventId: string): EventRecord => ({
  platform: 'kalshi',
  eventId,
  seriesId: 'KXMIX',
  slug: '',
  title: `${WORDS} ${eventId}`,
  category: 'Mixed',
  categorySlug: 'mixed',
  tags: [],
  mutuallyExclusive: false,
  imageUrl: '',
  sourceUrl: '',
  marketIds: [],
});

function record(
  ref: string,
  eventId: string,
  metadata: object = {},
  status: 'open' | 'settled' = 'open',
): MarketRecord {
  return {
    ...market({
      ref,
      platform: 'kalshi',
      eventId,
      title: `${WORDS} ${ref}`,
      seriesId: 'KXMIX',
      category: 'Mixed',
      metadata: { ...metadata } as MarketRecord['info']['metadata'],
      state: { status, volume24h: usd('3'), volumeTotal: usd('10') },
    }),
    event: event(eventId),
    series: {
      platform: 'kalshi',
      seriesId: 'KXMIX',
      title: WORDS,
      category: 'Mixed',
      categorySlug: 'mixed',
      frequency: null,
    },
  };
}
const combo = (ref: string, status: 'open' | 'settled' = 'open') =>
  record(ref, `${ref}-E`, { is_combo: true, legs: LEGS }, status);
const print = (ref: string, size: string) => trade({ of: combo(ref), atMs: Date.now() - 60_000, price: '0.5', size });

beforeAll(async () => {
  store = await startMarketStore({ clock: listingClock });
  await store.list(record('A', 'GAME'), record('B', 'GAME'), combo('MIX'), combo('OVER', 'settled'));
  await store.refresh();
});
afterAll(() => store?.close());

const idsOf = async (query: string): Promise<string[]> => {
  const { markets } = await store.get<{ markets: { platform_id: string }[] }>(`markets?provider=kalshi&${query}`);
  return markets.map(({ platform_id: id }) => id).toSorted();
};

describe('combinations', () => {
  test.each([`query=${WORDS}`, 'category=mixed', 'sort=created', 'sort=volume_total', 'limit=500'])(
    'are in the list %s only when asked for',
    async (query) => {
      expect(await idsOf(query)).toEqual(['A', 'B']);
      expect(await idsOf(`${query}&include_combos=true`)).toEqual(['A', 'B', 'MIX', 'OVER']);
      expect(await idsOf(`${query}&include_combos=true&status=open`)).toEqual(['A', 'B', 'MIX']);
    },
  );

  test('are paged without a repeat or a gap', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { markets: { platform_id: string }[]; pagination: { total: number; next_cursor: string | null } } =
        await store.get(
          `markets?provider=kalshi&include_combos=true&limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        );
      expect(page.pagination.total).toBe(4);
      seen.push(...page.markets.map(({ platform_id: id }) => id));
      cursor = page.pagination.next_cursor;
    }
    expect(seen.toSorted()).toEqual(['A', 'B', 'MIX', 'OVER']);
  });

  test('are found by id and in a list of ids, with their legs', async () => {
    const { markets } = await store.get<{ markets: object[] }>('markets/id/MIX?provider=kalshi');
    expect(markets[0]).toMatchObject({ metadata: { is_combo: true, legs: LEGS } });
    expect(await idsOf('market_ids=MIX,A')).toEqual(['A', 'MIX']);
  });

  test('make no event of a list, unless asked for; an event that is asked for by its id is there', async () => {
    const events = async (query: string) => {
      const page = await store.get<{ events: { event_id: string }[] }>(`events?provider=kalshi${query}`);
      return page.events.map(({ event_id: id }) => id).toSorted();
    };
    expect(await events('')).toEqual(['GAME']);
    expect(await events('&include_combos=true')).toEqual(['GAME', 'MIX-E', 'OVER-E']);
    expect(await store.get('events/MIX-E?provider=kalshi')).toMatchObject({
      event: { markets_count: 1, market_ids: ['MIX'] },
      markets: [{ metadata: { legs: LEGS } }],
    });
    const { series } = await store.get<{ series: object[] }>('series?provider=kalshi');
    expect(series).toEqual([expect.objectContaining({ series_id: 'KXMIX', events_count: 1 })]);
  });

  test('neither trend nor count in their category', async () => {
    const { trending } = await store.get<{ trending: { market_id: string }[] }>('analytics/trending?limit=100');
    expect(trending.map(({ market_id: id }) => id).toSorted()).toEqual(['A', 'B']);
    const { categories } = await store.get<{ categories: object[] }>('analytics/categories');
    expect(categories).toEqual([expect.objectContaining({ slug: 'mixed', active_markets: 2, total_markets: 2 })]);
  });

  test('have a column in SQL, and no part in sums over events and series', async () => {
    const rows = await store.clickhouse.sql('SELECT platform_id, is_combo FROM v_markets ORDER BY platform_id');
    expect(rows.filter((row) => row['is_combo']).map((row) => row['platform_id'])).toEqual(['MIX', 'OVER']);
    expect(await store.clickhouse.sql('SELECT event_id FROM v_events')).toEqual([{ event_id: 'GAME' }]);
    expect(await store.clickhouse.sql('SELECT events_count, open_events FROM v_series')).toEqual([
      { events_count: '1', open_events: '1' },
    ]);
  });
});

describe('markets that no list has', () => {
  const context = { priority: 'poll', onBadRow: () => {} } as const;
  const run: JobRun = { lease: LEASE, signal: new AbortController().signal, context: () => context };
  const asked: string[][] = [];
  let settled = new Set<string>();

  const sweeper = () =>
    new MarketSweeper({
      clickhouse: store.clickhouse,
      writer: new MarketWriter(store.clickhouse, systemClock, { present: store.app.deps.present }),
      data: {
        platform: 'kalshi',
        async *sweep() {
          yield { markets: [record('A', 'GAME'), record('B', 'GAME')] };
        },
        market: async () => null,
        async unlisted(refs: readonly string[]) {
          asked.push([...refs]);
          return refs.filter((ref) => ref !== 'GONE').map((ref) => combo(ref, settled.has(ref) ? 'settled' : 'open'));
        },
      } as unknown as PlatformData,
      log: pino({ level: 'silent' }),
      clock: { now: Date.now },
    });

  test('are stored once they trade, the most traded first and ten a pass, then read again until they are settled', async () => {
    const fresh = Array.from({ length: 12 }, (_, n) => `MIX-${n + 10}`);
    await store.trade(...fresh.map((ref, n) => print(ref, String(100 - n))), print('GONE', '500'), print('A', '900'));
    const sweeping = sweeper();
    await sweeping.sweep({ kind: 'open' }, run);
    expect(asked).toEqual([['GONE', ...fresh.slice(0, 9), 'MIX']]);
    settled = new Set(['MIX']);
    await sweeping.sweep({ kind: 'open' }, run);
    // What the platform does not know waits; those that were stored are read beside the new ones.
    expect(asked[1]?.slice(0, 3)).toEqual(fresh.slice(9));
    expect(asked[1]?.slice(3).toSorted()).toEqual(['MIX', ...fresh.slice(0, 9)]);
    settled = new Set(fresh);
    await sweeping.sweep({ kind: 'open' }, run);
    expect(asked[2]?.filter((ref) => ref !== 'GONE').toSorted()).toEqual(fresh);
    await sweeping.sweep({ kind: 'open' }, run);
    expect((asked[3] ?? []).filter((ref) => ref !== 'GONE')).toEqual([]);
    await store.app.deps.present.settled();
    expect(await idsOf('status=settled')).toEqual([]);
    expect(await idsOf('status=settled&include_combos=true')).toEqual([...fresh, 'MIX', 'OVER'].toSorted());
  });
});
