import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePrice } from '../../src/core/decimal.ts';
import { type MarketRecord, type Platform, PLATFORMS } from '../../src/core/model.ts';
import { market, type MarketStore, quotes, startMarketStore, usd } from '../helpers/market-store.ts';

interface Row {
  id: string;
  outcomes: { id: string }[];
  current_prices: Record<string, { price: number | null; bid: number | null; ask: number | null }>;
  price_24h_changes: Record<string, number>;
  volume_24h: number | null;
  volume_total: number | null;
  volume_24h_usd: number | null;
  volume_7d_usd: number | null;
  volume_total_usd: number | null;
  liquidity: number | null;
  liquidity_usd: number | null;
  created_at: string;
  resolved_at: string | null;
  trading_end_at: string | null;
}
interface Found {
  results: { market: Row }[];
  pagination: { total: number; next_cursor: string | null };
}

const EACH = 14;
const SECOND_MS = 1000;
const BEGUN_MS = Date.UTC(2026, 0, 1);
const cents = (n: number): string => (n / 100).toFixed(2);

/** The n-th market of a platform: many are alike in a figure, and of some it is not known. */
function made(platform: Platform, n: number, moved = 0): MarketRecord {
  const at = (((n * 7 + moved) % 9) + 1) * 10;
  const known = quotes(cents(at), cents(at - (n % 4)), n % 5 === 0 ? null : cents(at + (n % 3)));
  return market({
    platform,
    ref: `${platform}-${n}`,
    platformId: `${platform}-${n}`,
    createdAt: new Date(BEGUN_MS + (n % 6) * SECOND_MS).toISOString(),
    tradingEndAt: n % 4 === 0 ? null : new Date(BEGUN_MS * 2 + (n % 5) * SECOND_MS).toISOString(),
    state: {
      resolvedAt: n % 3 === 1 ? null : new Date(BEGUN_MS + ((n + moved) % 4) * SECOND_MS).toISOString(),
      ...(n % 7 === 0 ? {} : { quotes: known }),
      priceChange24h: n % 6 === 0 ? null : parsePrice(((n % 5) - 2) / 10),
      volume24h: n % 3 === 0 ? null : usd(String((n + moved) % 5)),
      volume7d: usd(String(n % 2)),
      volumeTotal: usd(String(n)),
      liquidity: usd(String(n % 4)),
      ...(n % 8 === 3 ? {} : { bestLevel: usd(String(((n + moved) % 6) / 10)) }),
      metadata: { liquidity_basis: n % 4 === 0 ? 'none' : 'full_book' },
    },
  });
}

const quoteOf = ({ outcomes, current_prices: prices }: Row) => prices[outcomes[0]?.id ?? ''];
const timeOf = (at: string | null): number | null => (at === null ? null : Date.parse(at));
/** What each order goes by. */
const FIGURES: Record<string, (row: Row) => number | null> = {
  price: (row) => quoteOf(row)?.price ?? null,
  spread(row) {
    const { bid = null, ask = null } = quoteOf(row) ?? {};
    return bid === null || ask === null ? null : Number((ask - bid).toFixed(10));
  },
  price_change_24h: (row) => row.price_24h_changes[row.outcomes[0]?.id ?? ''] ?? null,
  volume_24h: (row) => row.volume_24h,
  volume_total: (row) => row.volume_total,
  volume_24h_usd: (row) => row.volume_24h_usd,
  volume_7d_usd: (row) => row.volume_7d_usd,
  volume_total_usd: (row) => row.volume_total_usd,
  liquidity: (row) => row.liquidity,
  liquidity_usd: (row) => row.liquidity_usd,
  end_date: (row) => timeOf(row.trading_end_at),
  created: (row) => timeOf(row.created_at),
  resolved: (row) => timeOf(row.resolved_at),
};
const ASCENDING = new Set(['spread', 'end_date']);

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
  await store.list(...PLATFORMS.flatMap((platform) => Array.from({ length: EACH }, (_, n) => made(platform, n))));
});
afterAll(() => store?.close());

const listed = async (path: string): Promise<Row[]> => (await store.get<{ markets: Row[] }>(path)).markets;
const searched = (query: string): Promise<Found> => store.get(`search?types=markets&${query}`);
const ids = ({ results }: Found): string[] => results.map(({ market: { id } }) => id);
const inDirection = (figures: (number | null)[], ascends: boolean): (number | null)[] => {
  const known = figures.filter((figure) => figure !== null).toSorted((a, b) => (ascends ? a - b : b - a));
  return [...known, ...figures.filter((figure) => figure === null)];
};

test.each(Object.keys(FIGURES))(
  'lists go by %s in both directions, the unknown last, equal ones each once',
  async (sort) => {
    const figureOf = FIGURES[sort]!;
    for (const order of ['', 'asc', 'desc']) {
      const ascends = order === '' ? ASCENDING.has(sort) : order === 'asc';
      const asked = `sort=${sort}&limit=100${order && `&order=${order}`}`;
      const lists = [
        await listed(`markets?provider=kalshi&${asked}`),
        (await searched(asked)).results.map(({ market: row }) => row),
        (await searched(`${asked}&q=market`)).results.map(({ market: row }) => row),
      ];
      expect(lists.map((rows) => new Set(rows.map(({ id }) => id)).size)).toEqual([EACH, 3 * EACH, 3 * EACH]);
      for (const rows of lists) {
        const figures = rows.map(figureOf);
        expect([order, figures]).toEqual([order, inDirection(figures, ascends)]);
      }
    }
  },
);

test.each([
  'price&order=asc',
  'spread&order=desc&q=market',
  'price_change_24h&q=market',
  'volume_24h_usd&order=asc',
  'end_date&order=desc',
  'resolved',
  'liquidity_usd',
])('pages by sort=%s join without a seam while figures move', async (sort) => {
  const whole = ids(await searched(`sort=${sort}&limit=100`));
  const joined: string[] = [];
  let cursor: string | null = null;
  let turn = 0;
  do {
    const page: Found = await searched(`sort=${sort}&limit=9${cursor === null ? '' : `&cursor=${cursor}`}`);
    expect(page.pagination.total).toBe(3 * EACH);
    joined.push(...ids(page));
    cursor = page.pagination.next_cursor;
    turn += 1;
    const platform = PLATFORMS[turn % PLATFORMS.length]!;
    await store.list(...Array.from({ length: EACH }, (_, n) => made(platform, n, turn)));
  } while (cursor !== null && turn < EACH);
  expect(joined).toEqual(whole);
});

test('an order that a type has not, a direction of the best match, and a cursor of the other direction are refused', async () => {
  await expect(store.get('search?sort=price')).rejects.toThrow(/sort: .*types=markets/s);
  await expect(store.get('search?types=events&sort=resolved')).rejects.toThrow(/sort: .*types=markets/s);
  await expect(store.get('search?sort=volume_24h_usd&order=asc')).rejects.toThrow(/order: .*types=markets/s);
  await expect(searched('sort=markets&order=asc')).rejects.toThrow('answered 400');
  await expect(searched('q=market&order=asc')).rejects.toThrow(/order: no value/);
  await expect(store.get('markets?provider=kalshi&query=market&order=desc')).rejects.toThrow(/order: no value/);
  const { pagination } = await searched('sort=price&order=asc&limit=5');
  await expect(searched(`sort=price&order=desc&limit=5&cursor=${pagination.next_cursor}`)).rejects.toThrow(/cursor/);
});
