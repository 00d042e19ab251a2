import { expect, test } from 'vitest';
import type { OrderBook, Platform } from '../../src/core/model.ts';
import type { CurrentMarket } from '../../src/markets/present-markets.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import type { Market } from '../../src/queries/markets-by-key.ts';
import { bestGap, gapsOf } from '../../src/queries/matches/gaps.ts';
import type { FoundMatch } from '../../src/queries/matches/pairs.ts';
import type { BookAnswer } from '../../src/queries/order-book.ts';
import { parsePrice, parseSize, parseUsd } from '../../src/core/decimal.ts';
import { MANIFESTS } from '../../src/platforms/manifests.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { createRng, type Rng } from '../simulators/lib/index.ts';

type Levels = { price: number; size: number }[];
const PLATFORMS_TRIED: readonly Platform[] = ['kalshi', 'polymarket', 'limitless'];

/** Prices ×10^4, sizes ×10^6, money ×10^16: nothing here is rounded before the end. */
const ONE = 10n ** 10n;
const scaled = (value: number, places: number): bigint => BigInt(Math.round(value * 10 ** places));

/** A fill of the test: money ×10^16 on top of its cost, and millionths of contracts that are kept. */
type Fee = { paid: bigint; kept: bigint };
const upTo = (value: bigint, step: bigint): bigint => ((value + step - 1n) / step) * step;

/** Published rates of Limitless in basis points, by cents. */
const RATES = [50, 300, 55, 252, 60, 213, 65, 180, 70, 151, 75, 126, 80, 105, 85, 85, 90, 68, 95, 53, 99, 42];

/** Fees of a fill by the published formulas, written again; `size` in millionths. */
const FEES: Record<Platform, (price: number, size: bigint, fee: Record<string, number>) => Fee> = {
  kalshi(price, size, { multiplier = 1 }) {
    const p = scaled(price, 4);
    // 0.07 × m × C × p × (1 − p), up to the next 0.0001; then the balance changes by a multiple of 0.0001.
    const exact = 7n * scaled(multiplier, 2) * p * (10_000n - p) * size;
    const trading = upTo(exact, 10n ** 14n) / 100n;
    const cost = scaled(price, 10) * size;
    return { paid: upTo(cost + trading, 10n ** 12n) - cost, kept: 0n };
  },
  polymarket(price, size, { rate = 0, exponent = 1 }) {
    if (rate === 0) return { paid: 0n, kept: 0n };
    const p = scaled(price, 4);
    const exact = scaled(rate, 4) * (p * (10_000n - p)) ** BigInt(exponent) * size;
    const unit = 10n ** (4n + 8n * BigInt(exponent) + 6n - 5n);
    let steps = exact / unit;
    const rest = (exact % unit) * 2n;
    if (rest > unit || (rest === unit && steps % 2n === 1n)) steps += 1n;
    return { paid: (size === 0n ? 0n : steps > 0n ? steps : 1n) * 10n ** 11n, kept: 0n };
  },
  limitless(price, size, { free = 0 }) {
    if (free === 1) return { paid: 0n, kept: 0n };
    const cents = Math.round(price * 100);
    const at = RATES.findIndex((cent, n) => n % 2 === 0 && cent >= cents);
    const [high = 0, highRate = 0, low = high, lowRate = highRate] =
      at <= 0 ? RATES.slice(0, 2) : [RATES[at], RATES[at + 1], RATES[at - 2], RATES[at - 1]];
    const width = high === low ? 1 : high - low;
    // Whole basis points, of which a part counts as one.
    const rate = Math.ceil((lowRate * width + (highRate - lowRate) * (at <= 0 ? 0 : cents - low)) / width);
    return { paid: 0n, kept: (size * BigInt(rate)) / 10_000n };
  },
};

const halfEven = (value: bigint): bigint => {
  const whole = value / ONE;
  const twice = (value % ONE) * 2n;
  return twice > ONE || (twice === ONE && whole % 2n === 1n) ? whole + 1n : whole;
};

interface Side {
  platform: Platform;
  fee: Record<string, number>;
  asks: Levels;
}

/** The most contracts that a side brings when it is bought whole. */
const depth = ({ platform, fee, asks }: Side): bigint =>
  asks.reduce((sum, { price, size }) => {
    const bought = scaled(size, 6);
    return sum + bought - FEES[platform](price, bought, fee).kept;
  }, 0n);

/** What it costs to have the first contracts of a side after fees, and the fees, unrounded. */
function spent({ platform, fee, asks }: Side, size: bigint): [cost: bigint, fees: bigint] {
  let [left, cost, fees] = [size, 0n, 0n];
  for (const { price, size: offered } of asks) {
    if (left === 0n) break;
    const feeOf = (bought: bigint): Fee => FEES[platform](price, bought, fee);
    // The fewest contracts of this level, as one fill, that bring what is left.
    let [low, high] = [0n, scaled(offered, 6)];
    while (low < high) {
      const middle = (low + high) / 2n;
      if (middle - feeOf(middle).kept >= left) high = middle;
      else low = middle + 1n;
    }
    const { paid, kept } = feeOf(low);
    cost += scaled(price, 10) * (low - kept);
    fees += scaled(price, 10) * kept + paid;
    left -= low - kept;
  }
  return [cost, fees];
}

/** The walk of the test: of all sizes, halved again and again, the largest one within the reach. */
function walked(one: Side, other: Side, reach: { size: bigint } | { amount: bigint }) {
  const most = depth(one) < depth(other) ? depth(one) : depth(other);
  const fits = (size: bigint): boolean =>
    'size' in reach
      ? size <= reach.size
      : [...spent(one, size), ...spent(other, size)].reduce((a, b) => a + b) <= reach.amount * ONE;
  let [low, high] = [0n, most];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (fits(middle)) low = middle;
    else high = middle - 1n;
  }
  const legs = [one, other].map((side) => spent(side, low).map(halfEven));
  const locked = legs.flat().reduce((a, b) => a + b, 0n);
  return { size: low, legs, locked, edge: low - locked };
}

function asksOf(rng: Rng): Levels {
  let price = rng.int(1, 40);
  return Array.from({ length: rng.int(1, 6) }, () => {
    price += rng.int(1, 8);
    return { price: price / 100, size: rng.int(1, 40_000) / 100 };
  });
}

const bookOf = (yes: Levels, no: Levels): BookAnswer => ({
  market_id: '',
  platform: 'kalshi',
  timestamp: '',
  yes: { bids: [], asks: yes, depth: 0 },
  no: { bids: [], asks: no, depth: 0 },
  metadata: { min_order_size: null, tick_size: null, neg_risk: false },
});

const marketOf = (platform: Platform, fee: Record<string, unknown>): Market =>
  ({
    id: `${platform}:m`,
    platform,
    platform_id: 'm',
    title: 'T',
    outcomes: [
      { id: 'yes', name: 'Yes' },
      { id: 'no', name: 'No' },
    ],
    resolution_date: null,
    trading_end_at: '2027-01-01T00:00:00.000Z',
    metadata: { fee },
  }) as unknown as Market;

function feeOf(rng: Rng, platform: Platform): Record<string, number> {
  if (platform === 'kalshi') return { multiplier: rng.pick([0.5, 1, 2]) };
  if (platform === 'limitless') return { free: rng.pick([0, 0, 0, 1]) };
  return { rate: rng.pick([0, 0.02, 0.0725]), exponent: rng.pick([1, 2]) };
}
const feeFactsOf = (platform: Platform, fee: Record<string, number>): Record<string, unknown> =>
  platform === 'kalshi'
    ? fee
    : platform === 'polymarket'
      ? { enabled: fee['rate'] !== 0, ...fee }
      : { enabled: fee['free'] === 0 };

test('gaps of 1,000 random pairs are those of a walk of both books, fees included', () => {
  const rng = createRng(37);
  for (let n = 0; n < 1000; n += 1) {
    const sides = [0, 1].map(() => {
      const platform = rng.pick(PLATFORMS_TRIED);
      return { platform, fee: feeOf(rng, platform), yes: asksOf(rng), no: asksOf(rng) };
    });
    const [a, b] = sides as [(typeof sides)[0], (typeof sides)[0]];
    const reach =
      n % 2 === 0 ? { size: BigInt(rng.int(1, 90_000)) * 10_000n } : { amount: BigInt(rng.int(1, 50_000)) * 10_000n };
    const relation = rng.pick(['identical', 'complement'] as const);
    const side = (of: typeof a, asks: Levels): Side => ({ platform: of.platform, fee: of.fee, asks });
    // Identical: Yes of one and No of the other pay 1 together. Complement: both Yes, or both No.
    const ways =
      relation === 'identical'
        ? [walked(side(a, a.yes), side(b, b.no), reach), walked(side(a, a.no), side(b, b.yes), reach)]
        : [walked(side(a, a.yes), side(b, b.yes), reach), walked(side(a, a.no), side(b, b.no), reach)];
    const best = ways.toSorted((x, y) => Number(y.edge * x.size - x.edge * y.size))[0];
    const found = bestGap(
      relation,
      [marketOf(a.platform, feeFactsOf(a.platform, a.fee)), marketOf(b.platform, feeFactsOf(b.platform, b.fee))],
      [bookOf(a.yes, a.no), bookOf(b.yes, b.no)],
      reach,
    );
    expect(found?.gap.edge, `pair ${n}`).toBe(best?.edge);
    expect(found?.gap.size).toBe(best?.size);
    expect(found?.gap.locked).toBe(best?.locked);
    expect(found?.gap.legs.map(({ cost, fee }) => [cost, fee])).toEqual(best?.legs);
  }
});

test('fees of a fill are those that the platforms have charged for such fills', () => {
  const one = parsePrice;
  const paid = MANIFESTS.kalshi.fillFee({ fee: { multiplier: 1 } }, one('0.001'), parseSize('227.27'), 'buy')?.paid;
  expect(paid).toBe(parseUsd('0.01593') * one('1'));
  const kept = MANIFESTS.limitless.fillFee({ fee: { enabled: true } }, one('0.93'), parseSize('10.752'), 'buy')?.kept;
  expect(kept).toBe(parseSize('0.063436'));
  expect(MANIFESTS.kalshi.fillFee({}, one('0.5'), parseSize('1'), 'buy')).toBeNull();
});

const clock = virtualClock(Date.parse('2026-12-01T00:00:00Z'));
const match = (relation: string): FoundMatch =>
  ({
    match: { id: 'x', relation, verdict: { by: 'operator' } },
    a: marketOf('kalshi', { multiplier: 1 }),
    b: marketOf('polymarket', { enabled: false }),
  }) as unknown as FoundMatch;

const stored = (platform: Platform): CurrentMarket =>
  ({ platform, ref: 'm', platformId: 'm', status: 'open', metadata: {} }) as unknown as CurrentMarket;

/** Reads of books that take this long. */
function source(tookMs: number, leftOut = 0): Parameters<typeof gapsOf>[0] {
  const level = [{ price: 4_000_000_000n, size: 50_000_000n }];
  const book = { timestamp: null, yes: { bids: [], asks: level }, no: { bids: [], asks: level } };
  const platform = {
    orderBook: async () => {
      await clock.sleep(tookMs);
      return { ...book, minOrderSize: null, tickSize: null, negRisk: false, leftOut, raw: {} } as unknown as OrderBook;
    },
  } as unknown as PlatformData;
  return {
    platforms: {
      kalshi: platform,
      polymarket: { ...platform, orderBook: async () => ({ ...book, raw: {} }) as unknown as OrderBook },
    },
    shared: { cached: async (_key, _ttlMs, load) => ({ value: await load(), hit: false }) },
    clock,
    markets: {
      storedByAnyIds: async (name) => new Map([['m', stored(name)]]),
    },
  };
}
const context = { priority: 'live', onBadRow: () => {} } as const;
const gapsAfter = async (tookMs: number, relation: string, leftOut = 0) => {
  const reading = gapsOf(source(tookMs, leftOut), [match(relation)], { size: 10_000_000n }, context);
  await clock.advance(tookMs);
  return reading;
};

test('a gap names both legs, what is locked and until when, and how old the books are', async () => {
  const [gap] = await gapsAfter(1000, 'identical');
  expect(gap).toMatchObject({
    relation: 'identical',
    verdict_by: 'operator',
    a: { outcome: 'yes', cost_usd: 4, fee_usd: 0.168 },
    b: { outcome: 'no', cost_usd: 4, fee_usd: 0 },
    as_of: '2026-12-01T00:00:00.000Z',
    size: 10,
    is_whole: true,
    fees_usd: 0.168,
    locked_usd: 8.168,
    locked_until: '2027-01-01T00:00:00.000Z',
    edge_usd: 1.832,
    edge: 0.1832,
    unknown_because: null,
  });
});

test('a gap is unknown when a book is older than five seconds', async () => {
  const [gap] = await gapsAfter(5001, 'identical');
  expect(gap).toMatchObject({
    size: null,
    edge: null,
    locked_usd: null,
    unknown_because: 'A book is older than five seconds',
  });
  expect((await gapsAfter(5000, 'identical'))[0]?.edge_usd).toBe(1.832);
});

test('a gap is unknown when a book lacks a level, which may be the best', async () => {
  const [gap] = await gapsAfter(1000, 'identical', 1);
  expect(gap).toMatchObject({ edge: null, unknown_because: 'A level of a book could not be read' });
});

test('no number is made for a pair that is neither identical nor complementary', async () => {
  for (const relation of ['subset', 'superset', 'overlap', 'disjoint', 'unknown'])
    expect(await gapsAfter(0, relation)).toEqual([]);
});
