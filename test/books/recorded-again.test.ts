import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { AnnouncedBook } from '../../src/books/announcer.ts';
import { BookRecorder } from '../../src/books/recorder.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import type { BookSide } from '../../src/core/model.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const PLATFORM = 'kalshi';
const at = '2026-11-26T00:00:00.000Z';
const bid = (size: string): BookSide => ({ bids: [{ price: parsePrice('0.4'), size: parseSize(size) }], asks: [] });
const markets = (...refs: string[]) =>
  refs.map((ref) => ({ platform: PLATFORM, ref, outcomes: [{ id: 'yes' }] }) as StoredMarket);

test('a market that is recorded again never repeats a sequence, and has a gap', async () => {
  const announced: AnnouncedBook[] = [];
  const recorder = new BookRecorder({
    clock: virtualClock(),
    clickhouse: { query: async () => [], insert: async () => {} } as unknown as ClickHouse,
    log: pino({ level: 'silent' }),
    platform: PLATFORM,
    announce: (message) => announced.push(message),
  });
  await recorder.open({ remainingMs: () => 60_000 } as never);
  recorder.want(markets('A', 'B', 'C'));
  for (const size of ['1', '2', '3', '4']) for (const ref of ['A', 'B']) recorder.snapshot(ref, bid(size), at, at);
  recorder.snapshot('C', bid('1'), at, at);
  recorder.want(markets('C'), new Set(['A']));
  recorder.want(markets('A', 'B', 'C'));
  const before = new Map(announced.map(({ ref, sequence }) => [ref, sequence]));
  announced.splice(0);
  for (const ref of ['A', 'B', 'C']) recorder.snapshot(ref, bid('5'), at, at);
  const [a, b, c] = announced;
  expect([a?.begins, b?.begins, c?.begins]).toEqual([true, true, false]);
  expect(a?.sequence).toBeGreaterThan(before.get('A') ?? Infinity);
  expect(b?.sequence).toBeGreaterThan(before.get('B') ?? Infinity);
  expect(c?.sequence).toBe((before.get('C') ?? 0) + 1);
  expect([a?.ends_gap?.reason, b?.ends_gap?.reason]).toEqual(['not recorded', 'not recorded']);
  await recorder.close();
});
