import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { EventAnswer, SeriesAnswer } from '../../../src/schemas/events.ts';
import { eventFigures, type EventTruth } from '../../oracle/events.ts';
import { largePage, type Page, type ServedMarket } from '../../oracle/pipeline.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import type { Stage } from './stage.ts';

type Event = z.output<typeof EventAnswer>;
type Series = z.output<typeof SeriesAnswer>;

const eventPage = (): number => 200 - (largePage() % 40);

async function walk<Row>(
  { service, provider }: Stage,
  name: 'events' | 'series',
  query: string,
  limit = eventPage(),
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const body: Record<string, unknown> = await service.get(
      `${name}?${provider}${query}&limit=${limit}&cursor=${cursor}`,
    );
    rows.push(...(body[name] as Row[]));
    cursor = (body['pagination'] as Page).next_cursor;
  }
  return rows;
}

/** Stored markets by event, each record as it truly is; what is wrong with them otherwise. */
async function marketsByEvent(stage: Stage): Promise<Map<string, ServedMarket[]> | Difference[]> {
  const wrong = await stage.wrongMarkets();
  if (wrong.length > 0) return wrong;
  const children = new Map<string, ServedMarket[]>();
  for (const market of await stage.markets('sort=created')) {
    if (market.event_id === '') continue;
    children.set(market.event_id, [...(children.get(market.event_id) ?? []), market]);
  }
  return children;
}

const byLength = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);

/** In the order of the platform; behind them by id, 9 before 10, those that its list left out when the event was read. */
function inOrder(
  served: readonly string[],
  ids: readonly string[],
  { order, left_out: leftOut }: EventTruth,
): string[] {
  const before = (tail: readonly string[]): string[] => [
    ...order.filter((one) => ids.includes(one) && !tail.includes(one)),
    ...tail.toSorted(byLength),
  ];
  const tails = ids.map((_, length) => served.slice(served.length - length));
  const possible = tails.filter((tail) => tail.every((one) => leftOut.includes(one))).map(before);
  return possible.find((list) => list.join() === served.join()) ?? before([]);
}

/** Images come by themselves, of events that trade. */
const shownImage = (served: Event, truth: EventTruth): string =>
  truth.image_url_later && served.open_markets === 0 && served.image_url === '' ? '' : truth.image_url;

/** Every field of every event against the platform's world; its figures are sums over markets that are compared too. */
async function wrongEvents(stage: Stage): Promise<Difference[]> {
  const { platform } = stage.truth;
  const children = await marketsByEvent(stage);
  if (Array.isArray(children)) return children;
  const events = await walk<Event>(stage, 'events', '');
  const served = new Map(events.map((event) => [event.event_id, event]));
  const truths = new Map(stage.truth.events().map((truth) => [truth.event_id, truth]));
  const listed = new Set(stage.truth.listed());
  // Of an event without a listed market the platform shows no more than the market that somebody asked for.
  const shown = [...children].filter(([, own]) => own.some((market) => listed.has(market.platform_id)));
  const wrong = shown.flatMap(([id, own]) => {
    const event = served.get(id);
    const truth = truths.get(id);
    if (!event || !truth) return differences(id, event, { event_id: id });
    const { order: _order, left_out: _out, image_url_later: _later, ...facts } = truth;
    const ids = own.map((market) => market.platform_id);
    return differences(id, event, {
      id: `${platform}:${id}`,
      platform,
      ...facts,
      image_url: shownImage(event, truth),
      ...eventFigures(own),
      market_ids: inOrder(event.market_ids, ids, truth),
    });
  });
  const extra = events.filter(({ event_id: id }) => !children.has(id));
  return [...wrong, ...extra.map(({ id }) => ({ id, field: '', served: 'an event', expected: 'nothing' }))];
}

const byId = (a: { series_id: string }, b: { series_id: string }): number => (a.series_id < b.series_id ? -1 : 1);

/** Every field of every series against the platform's world; its events are those that have a stored market. */
async function wrongSeries(stage: Stage): Promise<Difference[]> {
  const { platform } = stage.truth;
  const children = await marketsByEvent(stage);
  if (Array.isArray(children)) return children;
  const rows = await walk<Series>(stage, 'series', '');
  const truths = stage.truth.series().toSorted(byId);
  const ids = { ids: rows.map((row) => row.series_id) };
  if (rows.length !== truths.length) return differences('all', ids, { ids: truths.map((row) => row.series_id) });
  const events = stage.truth.events().filter(({ event_id: id }) => children.has(id));
  const isOpen = ({ event_id: id }: EventTruth) => children.get(id)?.some(({ status }) => status === 'open');
  return truths.flatMap((truth, at) => {
    const own = events.filter(({ series_id: id }) => id === truth.series_id);
    return differences(truth.series_id, rows[at], {
      id: `${platform}:${truth.series_id}`,
      platform,
      ...truth,
      events_count: own.length,
      open_events: own.filter(isOpen).length,
    });
  });
}

export function eventTests(stage: () => Stage, when: string): void {
  test(`${when} every field of every event and series is that of the platform, figures those of its markets`, async () => {
    expect(await stage().eventually(() => wrongEvents(stage()))).toEqual([]);
    expect(await stage().eventually(() => wrongSeries(stage()))).toEqual([]);
    const events = await walk<Event>(stage(), 'events', '');
    expect(events.map(({ status }) => status)).toEqual(expect.arrayContaining([...stage().truth.eventStates]));
    expect(events.some(({ markets_count: count }) => count > 1)).toBe(true);
    const open = await walk<Event>(stage(), 'events', '&status=open');
    expect(open.map(({ id }) => id).toSorted()).toEqual(
      events
        .filter(({ status }) => status === 'open')
        .map(({ id }) => id)
        .toSorted(),
    );
  });
}

export function eventPageTests(stage: () => Stage): void {
  test('an event is answered with its markets in the order of the platform', async () => {
    const { service, provider } = stage();
    const [first] = await walk<Event>(stage(), 'events', '&sort=markets', 3 + (eventPage() % 5));
    const one = await service.get<{ event: Event; markets: ServedMarket[] }>(`events/${first!.id}?${provider}`);
    expect(one.event).toMatchObject({ event_id: first!.event_id, ...eventFigures(one.markets) });
    expect(one.markets.map(({ platform_id: id }) => id)).toEqual(one.event.market_ids);
    const rows = await stage().markets(`event_id=${first!.event_id}`);
    expect(rows.map(({ platform_id: id }) => id).toSorted()).toEqual(one.event.market_ids.toSorted());
  });

  test('small pages of events in every order repeat none and miss none', async () => {
    const all = (await walk<Event>(stage(), 'events', '')).map(({ id }) => id).toSorted();
    for (const sort of ['volume_24h', 'end_date', 'created', 'markets']) {
      const ids = (await walk<Event>(stage(), 'events', `&sort=${sort}`, 19)).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(all.filter((id) => !ids.includes(id))).toEqual([]);
    }
  });
}
