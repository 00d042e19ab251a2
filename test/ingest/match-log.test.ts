import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MarketMatcher } from '../../ingest/matches/matcher.ts';
import { MatchLog } from '../../ingest/matches/match-log.ts';
import { type MarketRecord, type Platform, PLATFORMS } from '../../src/core/model.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { MatchEvent } from '../../src/schemas/stream-events.ts';
import { DAY_MS, systemClock } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { matcherOf as filterOf, partitionsOf, type StreamFilter } from '../../src/streams/filter.ts';
import { type LogRow, readLog } from '../../src/streams/log/read.ts';
import { ALL } from '../helpers/market-of-streams.ts';
import { LEASE, market } from '../helpers/market-store.ts';
import { bitcoin, matcherOf } from '../helpers/matcher.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';

import { virtualClock } from '../helpers/virtual-clock.ts';
import { silent } from '../helpers/silent-log.ts';

let clickhouse: ClickHouse;
let writer: MarketWriter;
// Later than the log was opened by the store's own clock.
const clock = virtualClock(Date.now() + 3_600_000);
const { signal } = new AbortController();
const run = { signal, lease: LEASE };

beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
  writer = new MarketWriter(clickhouse, systemClock);
  matcher = matcherOf(clickhouse, clock);
}, 120_000);
afterAll(() => clickhouse.close());

let at = Date.now();
async function list(record: MarketRecord): Promise<void> {
  at += 1000;
  record.fetchedAt = new Date(at).toISOString();
  await writer.write(record.info.platform, [record]);
}

const withIds = (platform: Platform, ref: string, level: string): MarketRecord =>
  bitcoin(platform, ref, level, { platformId: `${ref}-id`, eventId: `${ref}-EVENT` });

const logged = async (): Promise<LogRow[]> =>
  (await readLog(clickhouse, { feed: 'matches', platform: 'kalshi' }, 0, 100)).rows;
const eventOf = ({ data, sequence }: LogRow) =>
  MatchEvent.parse({ ...JSON.parse(data), sequence, sent_at: '2027-01-01T00:00:00.000Z' });
const events = async () =>
  (await logged())
    .map(eventOf)
    .map(({ type, relation, previous_relation: before, a, b }) => [type, before, relation, a.market_id, b.market_id]);

let matcher: MarketMatcher;
async function match(): Promise<void> {
  for (const platform of PLATFORMS) matcher.marketsStored(platform);
  for (const platform of PLATFORMS.toReversed()) await matcher.run(platform, run);
  await clock.advance(2000);
}

test('a pair that is found, judged otherwise and withdrawn is an event each time, once', async () => {
  await list(withIds('kalshi', 'K', '100,000'));
  await match();
  await list(withIds('polymarket', 'P', '100,000'));
  await match();
  expect(await events()).toEqual([['found', null, 'identical', 'K-id', 'P-id']]);
  await list(withIds('polymarket', 'P', '90,000'));
  await match();
  await list(market({ platform: 'polymarket', ref: 'P', title: 'Something else', category: 'Crypto' }));
  await match();
  await match();
  expect(await events()).toEqual([
    ['found', null, 'identical', 'K-id', 'P-id'],
    ['changed', 'identical', 'subset', 'K-id', 'P-id'],
    ['withdrawn', 'subset', null, 'K-id', 'P'],
  ]);
});

test('a kill between a verdict and its event loses no event, and a new writer repeats none', async () => {
  const before = (await events()).length;
  const deaf: ClickHouse = {
    ...clickhouse,
    insert: (table, ...rest) =>
      table.startsWith('event_log') ? Promise.reject(new Error('killed')) : clickhouse.insert(table, ...rest),
  };
  matcher = matcherOf(deaf, clock);
  await list(withIds('polymarket', 'P', '100,000'));
  await expect(match()).rejects.toThrow('killed');
  expect((await events()).length).toBe(before);
  for (const times of [1, 1]) {
    const log = new MatchLog({
      clickhouse,
      clock,
      log: silent,
      shared: { publish: async () => {} },
      platform: 'kalshi',
    });
    await log.step({ ...LEASE });
    expect((await events()).length).toBe(before + times);
  }
  expect((await events()).at(-1)).toEqual(['found', null, 'identical', 'K-id', 'P-id']);
});

const of = (platform: Platform, ref: string) => ({ markets: new Map([[platform, new Set([ref])]]) });

test('a subscription gets the matches of one of its markets, platforms or events, whichever side it is', async () => {
  const row = (await logged()).at(-1);
  const all: StreamFilter = { ...ALL, channels: ['matches'], platforms: PLATFORMS };
  const gets = (filter: Partial<StreamFilter>): boolean => {
    const whole = { ...all, ...filter };
    expect(partitionsOf(whole)).toContainEqual({ feed: 'matches', platform: 'kalshi' });
    return row !== undefined && filterOf(whole)({ feed: 'matches', platform: 'kalshi' }, row);
  };
  expect([gets({}), gets({ platforms: ['polymarket'] }), gets({ platforms: ['limitless'] })]).toEqual([
    true,
    true,
    false,
  ]);
  expect([gets(of('polymarket', 'P')), gets(of('kalshi', 'K')), gets(of('kalshi', 'P'))]).toEqual([true, true, false]);
  expect([gets({ eventId: 'P-EVENT' }), gets({ eventId: 'K-EVENT' }), gets({ eventId: 'other' })]).toEqual([
    true,
    true,
    false,
  ]);
});

test('a new writer does not send a verdict again whose event was dropped for its age', async () => {
  const rows = () => clickhouse.sql("SELECT sequence FROM event_log WHERE feed = 'matches'");
  expect(await rows()).not.toEqual([]);
  await clickhouse.command("DELETE FROM event_log WHERE feed = 'matches'");
  const later = virtualClock(clock.now() + 31 * DAY_MS);
  const silence = { log: silent, shared: { publish: async () => {} } };
  await new MatchLog({ clickhouse, clock: later, platform: 'kalshi', ...silence }).step({ ...LEASE });
  expect(await rows()).toEqual([]);
});
