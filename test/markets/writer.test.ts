import { expect, test } from 'vitest';
import { z } from 'zod';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { groupedInserts } from '../../src/stores/clickhouse/grouped-inserts.ts';
import { type Clock, systemClock } from '../../src/core/time.ts';
import { parseUsd } from '../../src/core/decimal.ts';
import type { Platform } from '../../src/core/model.ts';
import type { PlatformData, ReadContext, ReadInterest } from '../../src/platforms/contract.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import { OpenInterestReader } from '../../ingest/markets/open-interest.ts';
import { market } from '../helpers/market-store.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const State = z.object({ platform: z.string(), open_interest: z.string().nullable() });

/** Keeps the rows of market_state that a writer sends; `onInsert` runs before each insert. */
function openWriter(onInsert: (table: string) => void = () => {}, clock: Clock = systemClock) {
  const states: z.infer<typeof State>[] = [];
  const clickhouse = {
    query: async () => [],
    run: async () => {},
    command: async () => {},
    insert: async (table: string, rows: Buffer) => {
      onInsert(table);
      const lines = String(rows).trimEnd().split('\n');
      if (table.startsWith('market_state')) states.push(...lines.map((line) => State.parse(JSON.parse(line))));
    },
  } as unknown as ClickHouse;
  return { writer: new MarketWriter(groupedInserts(clickhouse, clock), clock), states };
}

const shared = (platform: Platform) => market({ platform, ref: 'will-it-rain' });
const sold = (ref: string, volume: string) =>
  market({ platform: 'polymarket', ref, state: { volumeTotal: parseUsd(volume) } });

test('markets of two platforms with one reference are both written, each with its own open interest', async () => {
  const { writer, states } = openWriter();
  writer.setOpenInterest('polymarket', 'will-it-rain', { value: parseUsd('5'), at: '2026-11-20T12:00:00.000Z' });
  await writer.write('limitless', [shared('limitless')]);
  await writer.write('polymarket', [shared('polymarket')]);
  expect(states).toMatchObject([
    { platform: 'limitless', open_interest: null },
    { platform: 'polymarket', open_interest: '5' },
  ]);
  await writer.write('limitless', [shared('limitless')]);
  expect(states).toHaveLength(2);
});

test('a market that was dropped and is listed again has none of its old figures', async () => {
  const { writer, states } = openWriter();
  await writer.write('polymarket', [shared('polymarket')]);
  writer.setOpenInterest('polymarket', 'will-it-rain', { value: parseUsd('5'), at: '2026-11-20T12:00:00.000Z' });
  await writer.drop('polymarket', 'will-it-rain');
  await writer.write('polymarket', [shared('polymarket')]);
  expect(states.map(({ open_interest: value }) => value)).toEqual([null, null]);
});

test('open interest that the platform no longer states is unknown, and stays where it could not be read', async () => {
  const { writer, states } = openWriter();
  let volume = '1';
  const lists = { query: async () => ['left-out', 'unread'].map((ref) => ({ ref, volume })) } as unknown as ClickHouse;
  const found = new Map<string, ReadInterest>();
  const data = {
    platform: 'polymarket',
    openInterest: async (_refs: string[], { onBadRow }: ReadContext) => {
      if (found.size === 0) onBadRow({ platform: 'polymarket', kind: 'market', id: 'unread', reason: 'timeout' });
      return found;
    },
  } as unknown as PlatformData;
  const run = { context: () => ({ priority: 'poll', onBadRow: () => {} }) } as unknown as JobRun;
  const reader = new OpenInterestReader({ lists, writer, data, clock: { now: Date.now } });
  for (const ref of ['left-out', 'unread']) found.set(ref, { value: parseUsd('5'), at: '2026-11-20T12:00:00.000Z' });
  await reader.read(run);
  await writer.write('polymarket', [sold('left-out', volume), sold('unread', volume)]);
  found.clear();
  volume = '2';
  await reader.read(run);
  await writer.write('polymarket', [sold('left-out', volume), sold('unread', volume)]);
  expect(states.map(({ open_interest: value }) => value)).toEqual(['5', '5', null, '5']);
});

test('figures from elsewhere than the listing are written after an insert that failed, of settled markets too', async () => {
  let fails = true;
  const { writer, states } = openWriter((table) => {
    if (fails && table.startsWith('market_state')) throw new Error('store down');
  });
  const settled = market({ platform: 'polymarket', ref: 'over', state: { status: 'settled' } });
  fails = false;
  await writer.write('polymarket', [settled]);
  writer.setOpenInterest('polymarket', 'over', { value: parseUsd('5'), at: '2026-11-20T12:00:00.000Z' });
  fails = true;
  await expect(writer.write('polymarket', [settled])).rejects.toThrow('store down');
  fails = false;
  await writer.write('polymarket', [settled]);
  expect(states.map(({ open_interest: value }) => value)).toEqual([null, '5']);
  await writer.write('polymarket', [settled]);
  expect(states).toHaveLength(2);
});

test('a figure that comes while the market is written is written the next time', async () => {
  let comes = true;
  const { writer, states } = openWriter((table) => {
    if (!table.startsWith('market_state')) return;
    if (comes) writer.setOpenInterest('polymarket', 'over', { value: parseUsd('7'), at: '2026-11-20T12:00:00.000Z' });
    comes = false;
  });
  const settled = market({ platform: 'polymarket', ref: 'over', state: { status: 'settled' } });
  for (let round = 0; round < 3; round += 1) await writer.write('polymarket', [settled]);
  expect(states.map(({ open_interest: value }) => value)).toEqual([null, '7']);
});

test.each([
  ['of this market', (writer: MarketWriter) => writer.onTradesStored('kalshi', ['fresh'])],
  ['of any market', (writer: MarketWriter) => writer.markAllStale('kalshi', 0)],
])('trades %s that are stored during its first write make it due once more', async (_, store) => {
  let stored: Promise<void> | undefined;
  const { writer, states } = openWriter((table) => {
    if (table.startsWith('market_state')) stored ??= store(writer);
  });
  const fresh = market({ platform: 'kalshi', ref: 'fresh' });
  for (let n = 0; n < 3; n += 1) {
    await writer.write('kalshi', [{ ...fresh, fromTrades: { volumes: 'feed' } }]);
    await stored;
  }
  expect(states).toHaveLength(2);
});

test('a market that somebody asks for is stored at once, however many were asked for just before', async () => {
  const { writer, states } = openWriter(undefined, virtualClock());
  for (let n = 0; n < 30; n += 1) {
    await writer.write('kalshi', [market({ platform: 'kalshi', ref: `asked-${n}` })], { isUrgent: true });
  }
  expect(states).toHaveLength(30);
});
