import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import type { EventAnswer, SeriesAnswer } from '../../src/schemas/events.ts';
import type { Platform } from '../../src/core/model.ts';
import { StoppableClock } from '../oracle/clock.ts';
import { eventFigures, type EventTruth, kalshiEvents, limitlessEvents, polymarketEvents } from '../oracle/events.ts';
import {
  eventually,
  largePage,
  type Page,
  type Pipeline,
  type ServedMarket,
  startPipeline,
} from '../oracle/pipeline.ts';
import { type Difference, differences } from '../oracle/vocabulary.ts';
import { type KalshiWorld, startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import type { LimitlessWorld } from '../simulators/limitless/world.ts';
import { startPolymarket } from '../simulators/polymarket.ts';
import type { PolymarketWorld } from '../simulators/polymarket/world/world.ts';
import type { Simulator } from '../simulators/simulator.ts';

// Checks end as soon as they find everything right; a busy machine gets there later.
vi.setConfig({ testTimeout: 240_000 });

type Event = z.output<typeof EventAnswer>;
type Series = z.output<typeof SeriesAnswer>;

const clock = new StoppableClock();
let kalshi: Simulator<KalshiWorld>;
let polymarket: Simulator<PolymarketWorld>;
let limitless: Simulator<LimitlessWorld>;
let service: Pipeline;

beforeAll(async () => {
  const options = { seed: 5, clock, tradesPerMarket: 20, historyDays: 6 };
  [kalshi, polymarket, limitless] = await Promise.all([
    startKalshi({ ...options, markets: 66 }),
    startPolymarket({ ...options, markets: 70 }),
    startLimitless({ ...options, markets: 1 }),
  ]);
  for (const sim of [kalshi, polymarket, limitless]) sim.enforceLimits = false;
  service = await startPipeline([kalshi, polymarket, limitless], ['kalshi', 'polymarket', 'limitless'], 1);
}, 120_000);
afterAll(async () => {
  await service?.close();
  await Promise.all([kalshi?.close(), polymarket?.close(), limitless?.close()]);
});

async function walk<Row>(name: 'events' | 'series', query: string, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const body: Record<string, unknown> = await service.get(`${name}?${query}&limit=${limit}&cursor=${cursor}`);
    rows.push(...(body[name] as Row[]));
    cursor = (body['pagination'] as Page).next_cursor;
  }
  return rows;
}

const eventPage = (): number => 200 - (largePage() % 40);

const truthOf: Record<Platform, () => EventTruth[]> = {
  kalshi: () => kalshiEvents(kalshi.world),
  polymarket: () => polymarketEvents(polymarket.world),
  limitless: () => limitlessEvents(limitless.world),
};

/** Images come later for events that do not trade, and Limitless numbers them. */
const shownImage = (event: Event, truth: EventTruth): string =>
  truth.image_url === '' || (event.platform === 'kalshi' && event.image_url === '') ? event.image_url : truth.image_url;

async function wrongEvents(platform: Platform): Promise<Difference[]> {
  const { rows: markets } = await service.markets(`provider=${platform}&sort=created`, largePage());
  const events = await walk<Event>('events', `provider=${platform}`, eventPage());
  const children = new Map<string, ServedMarket[]>();
  for (const market of markets.filter(({ event_id: id }) => id !== '')) {
    children.set(market.event_id, [...(children.get(market.event_id) ?? []), market]);
  }
  const served = new Map(events.map((event) => [event.event_id, event]));
  const truths = new Map(truthOf[platform]().map((truth) => [truth.event_id, truth]));
  const wrong = [...children].flatMap(([id, own]) => {
    const event = served.get(id);
    const truth = truths.get(id);
    if (!event || !truth) return differences(id, event, { event_id: id });
    const { order, ...facts } = truth;
    const ids = own.map(({ platform_id: one }) => one);
    const expected = {
      id: `${platform}:${id}`,
      platform,
      ...facts,
      image_url: shownImage(event, truth),
      ...eventFigures(own),
      // What the platform's list leaves out follows.
      market_ids: [
        ...order.filter((one) => ids.includes(one)),
        ...event.market_ids.filter((one) => !order.includes(one)),
      ],
    };
    const listed = differences(`${id} ids`, { ids: event.market_ids.toSorted() }, { ids: ids.toSorted() });
    return differences(id, event, expected).concat(listed);
  });
  if (children.size === 0) return [{ id: platform, field: '', served: 'nothing', expected: 'events' }];
  const extra = events.filter(({ event_id: id }) => !children.has(id));
  return [...wrong, ...extra.map(({ id }) => ({ id, field: '', served: 'an event', expected: 'nothing' }))];
}

describe.each(['kalshi', 'polymarket', 'limitless'] as const)('%s', (platform) => {
  test('every field of every event is that of the platform, and its figures are those of its markets', async () => {
    expect(await eventually(() => wrongEvents(platform))).toEqual([]);
    const events = await walk<Event>('events', `provider=${platform}&status=open`, eventPage());
    expect(events.length).toBeGreaterThan(0);
    expect(events.some(({ markets_count: count }) => count > 1)).toBe(true);
  });

  test('an event is answered with its markets in the order of the platform', async () => {
    const [first] = await walk<Event>('events', `provider=${platform}&sort=markets`, 3 + (eventPage() % 5));
    const one = await service.get<{ event: Event; markets: ServedMarket[] }>(
      `events/${first!.id}?provider=${platform}`,
    );
    expect(one.event).toMatchObject({ event_id: first!.event_id, ...eventFigures(one.markets) });
    expect(one.markets.map(({ platform_id: id }) => id)).toEqual(one.event.market_ids);
    const { rows } = await service.markets(`provider=${platform}&event_id=${first!.event_id}`, largePage());
    expect(rows.map(({ platform_id: id }) => id).toSorted()).toEqual(one.event.market_ids.toSorted());
  });

  test('small pages in every order repeat no event and miss none', async () => {
    const all = (await walk<Event>('events', `provider=${platform}`, eventPage())).map(({ id }) => id).toSorted();
    for (const sort of ['volume_24h', 'end_date', 'created', 'markets']) {
      const ids = (await walk<Event>('events', `provider=${platform}&sort=${sort}`, 19)).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(all.filter((id) => !ids.includes(id))).toEqual([]);
    }
  });
});

const EXPECTED_SERIES: Record<Platform, () => Partial<Series>[]> = {
  kalshi: () =>
    kalshi.world.exchange.series.map(({ ticker, title, frequency }) => ({ series_id: ticker, title, frequency })),
  polymarket: () => {
    const named = polymarket.world.events.flatMap(({ series, archived }) => (series && !archived ? [series] : []));
    return [...new Set(named)].map(({ id, title, recurrence }) => ({ series_id: id, title, frequency: recurrence }));
  },
  limitless: () =>
    limitless.world.series.map(({ stableSlug, frequency }) => ({ series_id: stableSlug, title: '', frequency })),
};

const byId = (a: Partial<Series>, b: Partial<Series>): number => (String(a.series_id) < String(b.series_id) ? -1 : 1);

test.each(['kalshi', 'polymarket', 'limitless'] as const)(
  'every series of %s is listed with its events',
  async (platform) => {
    const wrong = async (): Promise<Difference[]> => {
      const events = await walk<Event>('events', `provider=${platform}`, eventPage());
      const rows = await walk<Series>('series', `provider=${platform}`, eventPage());
      const truth = EXPECTED_SERIES[platform]().toSorted(byId);
      const ids = { ids: rows.map((row) => row.series_id) };
      if (rows.length !== truth.length) return differences('all', ids, { ids: truth.map((row) => row.series_id) });
      return truth.flatMap((one, at) => {
        const own = events.filter(({ series_id: id }) => id === one.series_id);
        const category = platform === 'kalshi' ? rows[at]?.category : (own[0]?.category ?? 'Crypto');
        return differences(String(one.series_id), rows[at], {
          id: `${platform}:${one.series_id}`,
          platform,
          ...one,
          category,
          events_count: own.length,
          open_events: own.filter(({ status }) => status === 'open').length,
        });
      });
    };
    expect(await eventually(wrong)).toEqual([]);
  },
);
