import { describe, expect, test } from 'vitest';
import { createPolymarketUsers } from '../../../src/platforms/polymarket/users.ts';
import type { TradePosition, UserTrade } from '../../../src/platforms/user-contract.ts';
import { cannedHttp, readContext, refuse, SETTINGS } from '../../fixtures/canned-http.ts';
import { dataEnvelope, tradeRow } from '../../fixtures/polymarket/rows.ts';

const WALLET = `0x${'1'.repeat(40)}`;
const social = (answer: Parameters<typeof cannedHttp>[0]) =>
  createPolymarketUsers({ http: cannedHttp(answer), settings: SETTINGS });

const other = (digit: string) => tradeRow({ transaction_hash: `0x${digit.repeat(64)}` });

describe('identical fills of one transaction that a page of the platform parts', () => {
  const same = tradeRow({ transaction_hash: `0x${'aa'.repeat(32)}` });
  const tape = [other('1'), same, same, same, other('2'), same];
  const reader = (size: number) =>
    social((_, query) => {
      const from = Number(query.get('cursor') ?? 0);
      const to = from + size;
      return dataEnvelope(tape.slice(from, to), to < tape.length ? String(to) : null);
    });

  test.each([1, 2, 3, 4])('are distinguished whatever the size of its pages and of ours: %i', async (size) => {
    const ids = async (limit: number): Promise<string[]> => {
      const found: UserTrade[] = [];
      let position: TradePosition | null = null;
      do {
        const page = await reader(size).userTrades(WALLET, { limit, position }, readContext());
        found.push(...page.trades);
        position = page.next;
      } while (position !== null);
      return found.map(({ tradeId }) => tradeId);
    };
    const all = await ids(100);
    expect(all.slice(1, 4).map((id) => /\.\d+$/.exec(id)?.[0] ?? '')).toEqual(['', '.2', '.3']);
    expect(new Set(all.slice(0, 5)).size).toBe(5);
    for (const limit of [1, 2]) expect((await ids(limit)).slice(0, 5)).toEqual(all.slice(0, 5));
  });

  test('a cursor of the platform alone, as an earlier version kept it, still serves', async () => {
    const position = { cursor: '4', id: 'x', us: Infinity, seen: 4, isWhole: true };
    const { trades } = await reader(2).userTrades(WALLET, { limit: 9, position }, readContext());
    expect(trades).toHaveLength(2);
  });
});

describe("a failure of Polymarket's public routes is not the caller's", () => {
  const reads = [
    ['trades', () => (s: Social) => s.userTrades(WALLET, { limit: 5, position: null }, readContext())],
    ['positions', () => (s: Social) => s.positions(WALLET, readContext())],
    ['public-search', () => (s: Social) => s.positions('somebody', readContext())],
  ] as const;
  type Social = ReturnType<typeof social>;

  test.each(
    reads.flatMap(([route, read]) =>
      (
        [
          ['not_found', 404, 'unavailable'],
          ['unauthorized', 401, 'geo_blocked'],
          ['unauthorized', 403, 'geo_blocked'],
        ] as const
      ).map(([kind, status, wanted]) => [route, status, kind, wanted, read()] as const),
    ),
  )('%s answers %i', async (route, status, kind, wanted, read) => {
    const failing = social(() => refuse(kind, status, { error: 'x' }));
    await expect(read(failing)).rejects.toMatchObject({ kind: wanted, status, detail: expect.stringContaining(route) });
  });

  test('only a search that finds no such name does not know the user', async () => {
    const none = social(() => ({ profiles: [] }));
    await expect(none.positions('somebody', readContext())).rejects.toMatchObject({ kind: 'not_found' });
  });
});
