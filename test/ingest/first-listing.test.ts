import { afterAll, beforeAll, expect, test } from 'vitest';
import { FirstListing } from '../../ingest/markets/first-listing.ts';
import { clockBehind } from '../helpers/flowing-clock.ts';
import { eventually, type Pipeline, startPipeline } from '../oracle/pipeline.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

const NEXT_LISTING_S = 600;
const clock = clockBehind();
let sim: Awaited<ReturnType<typeof startPolymarket>>;
let service: Pipeline;

beforeAll(async () => {
  sim = await startPolymarket({ seed: 5, clock, markets: 12, tradesPerMarket: 5 });
  // Events with their markets are listed first, then the markets of no event: the first listing ends in the middle.
  sim.inject({ match: /\/markets\/keyset/, times: 1000, kind: 'status', status: 500 });
  service = await startPipeline([sim], ['polymarket'], { clock, everySeconds: NEXT_LISTING_S });
});
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

const counted = async (sql: string): Promise<number> => Number((await service.clickhouse.sql(sql))[0]?.['n']);
const listings = () => counted("SELECT count() AS n FROM ingestion_runs WHERE job = 'markets' AND ok");
const firstListing = (onOver = (): void => {}) =>
  new FirstListing({ clickhouse: service.clickhouse, clock, platform: 'polymarket', onOver });

test('jobs that need markets wait for the first listing, and go on without a second one if it fails', async () => {
  const missing = async (): Promise<string[]> =>
    (await counted("SELECT count() AS n FROM ingestion_runs WHERE job = 'trades'")) > 0 ? [] : ['trades'];
  expect(await eventually(missing, NEXT_LISTING_S / 2, clock)).toEqual([]);
  expect(await counted('SELECT count() AS n FROM market_state')).toBeGreaterThan(0);
  expect(await listings()).toBe(0);
});

test('another process goes on after a listing that failed, and knows that none was complete', async () => {
  const other = firstListing();
  expect([await other.isOver(), await other.isStored()]).toEqual([true, false]);
  const elsewhere = new FirstListing({ clickhouse: service.clickhouse, clock, platform: 'kalshi', onOver: () => {} });
  expect([await elsewhere.isOver(), await elsewhere.isStored()]).toEqual([false, false]);
});

test('the end of the first listing is announced, whether it fails or not', async () => {
  let ends = 0;
  const listing = firstListing(() => (ends += 1));
  await expect(listing.during(() => Promise.reject(new Error('no page')))).rejects.toThrow('no page');
  expect([ends, await listing.isOver(), await listing.isStored()]).toEqual([1, true, false]);
  expect(await listing.during(async () => 7)).toBe(7);
  expect([ends, await listing.isStored()]).toEqual([2, true]);
  await listing.during(async () => {});
  expect(ends).toBe(2);
});
