import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STREAM_EVENTS } from '../../src/schemas/stream-events.ts';
import { type EventStream, openEventStream } from '../helpers/event-stream.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';
import { socketCounts } from '../helpers/socket-counts.ts';
import { kalshiMarket } from '../oracle/kalshi.ts';
import { limitlessMarket } from '../oracle/limitless.ts';
import { eventually, type Pipeline, type ServedMarket, startPipeline } from '../oracle/pipeline.ts';
import { polymarketMarket } from '../oracle/polymarket.ts';
import { type KalshiSimulator, startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

waitsInRealTime('each state of a market is waited for until it was read');

const WORLD = { seed: 23, markets: 20, tradesPerMarket: 5, historyDays: 1 };
const DAY_MS = 86_400_000;

let kalshi: KalshiSimulator;
let polymarket: Awaited<ReturnType<typeof startPolymarket>>;
let limitless: Awaited<ReturnType<typeof startLimitless>>;
let pipeline: Pipeline;
let stream: EventStream;

beforeAll(async () => {
  [kalshi, polymarket, limitless] = await Promise.all([
    startKalshi(WORLD),
    startPolymarket(WORLD),
    startLimitless({ ...WORLD, markets: 1 }),
  ]);
  const simulators = [kalshi, polymarket, limitless];
  // Budgets are another test's subject.
  for (const simulator of simulators) simulator.enforceLimits = false;
  // Limitless lists no market that has resolved: its socket tells of it.
  const live = { pace: 0.15, env: {}, observer: socketCounts() };
  pipeline = await startPipeline(simulators, ['kalshi', 'polymarket', 'limitless'], 1, 0, live);
  const begun = async () => {
    const rows = await pipeline.clickhouse.sql("SELECT platform FROM market_levels WHERE status = 'begun'");
    return rows.length === simulators.length ? [] : ['not every platform is listed'];
  };
  expect(await eventually(begun)).toEqual([]);
  const { key } = await pipeline.app.newKey('pro');
  stream = await openEventStream(`${pipeline.origin}stream?channels=markets`, { 'x-api-key': key });
  expect(stream.status).toBe(200);
}, 300_000);

afterAll(async () => {
  stream?.cut();
  await pipeline?.close();
  for (const simulator of [kalshi, polymarket, limitless]) await simulator?.close();
});

/** What a market's events must say, each but the first made by a step. */
interface Story {
  /** Of the market. */
  key: string;
  truth: () => Pick<ServedMarket, 'status' | 'resolved_at' | 'metadata'>;
  steps: (() => unknown)[];
}

const storyOf = (platform: string, id: string, truth: Story['truth'], steps: Story['steps']): Story => ({
  key: `${platform} ${id}`,
  truth,
  steps,
});

const now = () => ({ syncedMs: Date.now(), worldMs: Date.now() });

function kalshiStory(kind: Parameters<typeof kalshi.world.createMarket>[0], end: (id: string) => unknown): Story {
  const { world } = kalshi;
  const id = world.createMarket(kind);
  const market = world.exchange.marketByTicker.get(id)!;
  return storyOf('kalshi', id, () => kalshiMarket(world, market, now()), [
    () => world.pause(id),
    () => world.resume(id),
    () => world.close(id),
    () => world.reopen(id, Date.now() + DAY_MS),
    () => {
      market.closeMs += DAY_MS;
      market.updatedUs = world.exchange.stampUs();
    },
    () => end(id),
  ]);
}

function polymarketStory(question: string, result: number | 'split'): Story {
  const { world } = polymarket;
  const market = world.createMarket({ question });
  return storyOf('polymarket', market.id, () => polymarketMarket(world, market, now(), null), [
    () => world.pauseMarket(market),
    () => world.openMarket(market),
    () => (market.description = 'The rules were put in other words.'),
    () => world.closeMarket(market),
    () => world.resolveMarket(market, result),
  ]);
}

function limitlessStory(spec: Parameters<typeof limitless.world.createMarket>[0], result: 0 | 1 | 'split'): Story {
  const { world } = limitless;
  const market = world.createMarket(spec);
  return storyOf('limitless', market.slug, () => limitlessMarket(world, market, now()), [
    () => world.lock(market.slug),
    () => world.unlock(market.slug),
    () => (market.description = 'The rules were put in other words.'),
    () => world.expire(market.slug),
    () => world.resolve(market.slug, result),
  ]);
}

const eventsOf = (key: string) =>
  stream.frames.filter(({ event, data }) => event === 'market' && `${data['platform']} ${data['market_id']}` === key);

/** What the event of a change from one state to another holds; null where a payout is not known. */
function eventOf(before: string | null, { status, resolved_at, metadata }: ReturnType<Story['truth']>) {
  const payouts = Object.keys((metadata['payouts'] ?? {}) as object).length > 0 ? metadata['payouts'] : null;
  const moved = status === 'settled' ? 'resolved' : 'status';
  const type = before === null ? 'created' : before === status ? 'changed' : moved;
  return { type, status, previous_status: before, resolved_at, payouts };
}

/** Lets a market live, and returns what its events must say. */
async function live({ key, truth, steps }: Story): Promise<object[]> {
  const expected: object[] = [];
  let before: string | null = null;
  for (const step of [null, ...steps]) {
    step?.();
    const state = truth();
    expected.push(eventOf(before, state));
    before = state.status;
    const come = async () => (eventsOf(key).length >= expected.length ? [] : [expected.at(-1)]);
    expect(await eventually(come, 60), key).toEqual([]);
  }
  return expected;
}

test(
  'events say of each market of every platform when it was listed, paused, closed, changed and resolved, as its platform does',
  { timeout: 400_000 },
  async () => {
    const stories = [
      kalshiStory('rate', (id) => kalshi.world.settle(id, 'yes')),
      kalshiStory('rate', (id) => kalshi.world.settle(id, 'scalar', '0.3700')),
      polymarketStory('Will the first outcome win?', 0),
      polymarketStory('Will nobody win?', 'split'),
      limitlessStory({ title: 'Will the second outcome win?' }, 1),
      limitlessStory({ title: 'Will nobody win?' }, 'split'),
      limitlessStory({ title: 'Will the game be called off?', automationType: 'sports' }, 'split'),
    ];
    const expected = await Promise.all(stories.map(live));
    // More would be an event for nothing.
    await sleep(4000);
    for (const [n, { key }] of stories.entries()) {
      const events = eventsOf(key).map(({ data: { type, status, previous_status, resolved_at, payouts } }) => ({
        type,
        status,
        previous_status,
        resolved_at,
        payouts,
      }));
      expect(events, key).toEqual(expected[n]);
    }
  },
);

test('each event of a market has the fields that are described, a cursor, and its clocks and positions in order', () => {
  const events = stream.frames.filter(({ event }) => event === 'market');
  expect(events.length).toBeGreaterThan(30);
  const positions = new Map<unknown, number>();
  for (const { id, data } of events) {
    expect(STREAM_EVENTS.market.strict().safeParse(data).error).toBeUndefined();
    expect(id).toEqual(expect.any(String));
    const times = ['received_at', 'at', 'sent_at'].map((name) => String(data[name]));
    expect(times).toEqual(times.toSorted());
    expect(Number(data['sequence'])).toBeGreaterThan(positions.get(data['platform']) ?? 0);
    positions.set(data['platform'], Number(data['sequence']));
  }
});
