import { expect, test } from 'vitest';
import type { Platform } from '../../src/core/model.ts';
import { mergedTrades, MergedPosition, type ReadTrades } from '../../src/platforms/users/merged-trades.ts';
import type { UserTrade } from '../../src/platforms/user-contract.ts';
import { tradesAfter } from '../../src/platforms/users/trade-pages.ts';
import { createRng } from '../simulators/lib/index.ts';

const PLATFORMS = ['polymarket', 'limitless'] as const;

/** Lists of two platforms, newest first, in pages of `pageSize` of their own. */
function lists(seed: number, counts: Record<string, number>, pageSize: number) {
  const rng = createRng(seed);
  const made = new Map(
    PLATFORMS.map((platform) => {
      let us = 1_000_000_000;
      const trades = Array.from({ length: counts[platform] ?? 0 }, (_, n) => {
        us -= rng.int(0, 3);
        return { tradeId: `${platform}-${n}`, executedAtUs: us } as UserTrade;
      });
      return [platform as Platform, trades] as const;
    }),
  );
  const read: ReadTrades = (platform, position) =>
    tradesAfter(
      'wallet',
      async (cursor) => {
        const from = Number(cursor === '' ? 0 : cursor);
        const trades = (made.get(platform) ?? []).slice(from, from + pageSize);
        const next = from + pageSize < (made.get(platform)?.length ?? 0) ? String(from + pageSize) : '';
        return { trades, next, visibility: 'public', readAt: `2026-11-2${from % 10}`, isWhole: true };
      },
      { limit: 10, position },
    );
  return { made, read };
}

test.each([
  [1, { polymarket: 23, limitless: 17 }, 10, 7],
  [2, { polymarket: 40, limitless: 1 }, 3, 10],
  [3, { polymarket: 0, limitless: 31 }, 8, 4],
  [4, { polymarket: 12, limitless: 12 }, 5, 1],
  [5, { polymarket: 0, limitless: 0 }, 5, 5],
])('pages of both lists have each trade once, newest first (seed %i)', async (seed, counts, pageSize, limit) => {
  const { made, read } = lists(seed, counts, pageSize);
  const seen: { platform: Platform; trade: UserTrade }[] = [];
  let position: MergedPosition | null = {};
  let total = 0;
  for (let pages = 0; position && pages < 100; pages += 1) {
    const page = await mergedTrades(PLATFORMS, read, { limit, position: MergedPosition.parse(position) });
    seen.push(...page.trades);
    expect(page.trades.length).toBeLessThanOrEqual(limit);
    expect(page.total).toBeGreaterThanOrEqual(seen.length);
    ({ next: position, total } = page);
  }
  expect(total).toBe(counts.polymarket + counts.limitless);
  for (const platform of PLATFORMS) {
    const own = seen.filter((one) => one.platform === platform).map(({ trade }) => trade.tradeId);
    expect(own).toEqual(made.get(platform)?.map(({ tradeId }) => tradeId));
  }
  const times = seen.map(({ trade }) => trade.executedAtUs);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
});

test('a list that cannot be read is missing from its page, and read for the next one', async () => {
  const { made, read } = lists(6, { polymarket: 12, limitless: 9 }, 10);
  const away = new Set<Platform>(['limitless']);
  const readNow: ReadTrades = async (platform, position) => (away.has(platform) ? null : read(platform, position));
  const first = await mergedTrades(PLATFORMS, readNow, { limit: 5, position: {} });
  expect(first.trades.map(({ platform }) => platform)).toEqual(Array(5).fill('polymarket'));
  expect([first.isTotal, first.next === null]).toEqual([false, false]);
  away.clear();
  const seen = [...first.trades];
  for (let position = first.next; position;) {
    const page = await mergedTrades(PLATFORMS, readNow, { limit: 5, position });
    seen.push(...page.trades);
    position = page.next;
    if (!position) expect([page.total, page.isTotal]).toEqual([21, true]);
  }
  for (const platform of PLATFORMS) {
    const own = seen.filter((one) => one.platform === platform).map(({ trade }) => trade.tradeId);
    expect(own).toEqual(made.get(platform)?.map(({ tradeId }) => tradeId));
  }
});

test('a list with a late trade has each trade once on the pages of both', async () => {
  const times = { polymarket: [90, 20, 80, 10], limitless: [85, 84, 30, 5] };
  const listed = (platform: (typeof PLATFORMS)[number]) =>
    times[platform].map((us, n) => ({ tradeId: `${platform}-${n}`, executedAtUs: us }) as UserTrade);
  const read: ReadTrades = async (platform, position) => {
    const all = platform === 'kalshi' ? [] : listed(platform);
    const trades = all.slice(all.findIndex(({ tradeId }) => tradeId === position?.id) + 1);
    const answer = { user: 'wallet', visibility: 'public', readAt: '2026-11-20', isTotal: true } as const;
    return { ...answer, trades, next: null, total: all.length };
  };
  const ids: string[] = [];
  for (let position: MergedPosition | null = {}; position;) {
    const page = await mergedTrades(PLATFORMS, read, { limit: 2, position });
    ids.push(...page.trades.map(({ trade }) => trade.tradeId));
    position = page.next;
  }
  expect(ids.toSorted()).toEqual(
    PLATFORMS.flatMap((platform) => listed(platform).map((one) => one.tradeId)).toSorted(),
  );
});
