import { expect, test } from 'vitest';
import { faultRounds, spoil } from '../../oracle/faults.ts';
import { largePage } from '../../oracle/pipeline.ts';
import type { Stage } from './stage.ts';

export function failureTests(stage: () => Stage): void {
  const unlessIll = (words: RegExp) =>
    stage().eventually(() => stage().service.unlessIll(stage().truth.platform, words));
  const freshness = async (): Promise<number> => {
    const path = `markets?${stage().provider}&limit=${largePage()}`;
    const { meta } = await stage().service.get<{ meta: { data_freshness: string } }>(path);
    return Date.parse(meta.data_freshness);
  };

  test('after each kind of failure everything is served as it truly is', async () => {
    const { sim, faults } = stage().truth;
    for (const round of faultRounds(faults.endpoints, faults.first, faults.rounds)) {
      for (const fault of round) sim.inject(fault);
      await stage().live(40);
      expect(await stage().wrongAfterAll()).toEqual([]);
    }
    expect(await stage().eventually(() => stage().wrongTrades())).toEqual([]);
  });

  test('after an outage of everything the service catches up; meanwhile it answers and says how old its data is', async () => {
    const { service, truth } = stage();
    const before = stage().truth.clock.service.now();
    truth.setDown(true);
    expect(await unlessIll(/unavailable/)).toEqual([]);
    const stale = await freshness();
    expect(stale).toBeLessThan(before + 1000);
    truth.setDown(false);
    await stage().live(40);
    expect(await stage().wrongAfterAll()).toEqual([]);
    const illness = async () => ((await service.health(truth.platform)).status === 'ok' ? [] : ['ill']);
    expect(await stage().eventually(illness)).toEqual([]);
    const isStale = async () => ((await freshness()) > stale ? [] : ['as old as during the outage']);
    expect(await stage().eventually(isStale)).toEqual([]);
    expect(await freshness()).toBeLessThanOrEqual(stage().truth.clock.service.now());
  });

  test('a block of this region is distinguished from a limit and from an outage', async () => {
    const page = { body: '<html><head><title>Forbidden in your region</title></head></html>', headers: {} };
    const { pathname } = new URL(stage().truth.listing.url);
    stage().truth.sim.inject({ match: new RegExp(`${pathname}\\?`), times: 99, kind: 'status', status: 403, ...page });
    expect(await unlessIll(/geo_blocked.*Forbidden in your region/)).toEqual([]);
  });

  test('a malformed row costs itself only', async () => {
    const { service, truth } = stage();
    const { listing } = truth;
    truth.clock.run();
    const [broken] = truth.trading();
    stage().trade(60);
    truth.clock.stop();
    let spoiled = 0;
    await spoil(truth.sim, listing.url, 3, (body) => {
      const rows = listing.rows(body).filter((row) => listing.idOf(row) === broken);
      for (const row of rows) listing.spoil(row);
      spoiled = rows.length;
    });
    expect(spoiled).toBe(1);
    const others = async () => (await stage().wrongMarkets()).filter(({ id }) => id !== broken);
    expect(await stage().eventually(others)).toEqual([]);
    expect((await service.health(truth.platform)).detail ?? '').not.toMatch(/skipped/);
  });

  test('a field that vanishes from many rows is named by /health', async () => {
    const { service, truth } = stage();
    const { url, rows, required } = truth.listing;
    await spoil(truth.sim, url, Infinity, (body) => {
      for (const row of rows(body)) delete row[required];
    });
    expect(await unlessIll(new RegExp(`market .*: ${required}: `))).toEqual([]);
    truth.sim.clearFaults();
    expect(service.app.logged()).toMatch(new RegExp(`${required}.*Left out malformed rows`));
    expect(await stage().eventually(() => stage().wrongMarkets())).toEqual([]);
  });
}
