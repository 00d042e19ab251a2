import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';

const LEVELS = 20;
/** A snapshot at least once a minute. */
const SNAPSHOT_CHANGES = 55;
/** Between two changes of a market: 100 million in 200 markets are six days. */
export const STEP_MS = 1000;
const MARKETS_OF_INSERT = 10;
const EPOCH = 2 ** 32;

/** Markets, the changes of each, one a second before an instant. */
export interface BookSpan {
  refs: readonly string[];
  changes: number;
  endMs: number;
}

/** When a change was received, Unix ms. */
export const changeMs = ({ changes, endMs }: BookSpan, change: number): number => endMs - (changes - change) * STEP_MS;

/** What change n of a market leaves at its level; 0 for nothing. The same in SQL below. */
const sizeOf = (market: number, n: number): number => (n % 11 === 0 ? 0 : ((n * 7919 + market * 104_729) % 997) + 1);

interface Level {
  price: number;
  size: number;
}

/** The book behind change n: levels are changed in turn, so that each is what its last change left. */
export function expectedBook(market: number, n: number): { bids: Level[]; asks: Level[] } {
  const levels = Array.from({ length: 2 * LEVELS }, (_, level) => {
    const last = n - ((((n - level) % (2 * LEVELS)) + 2 * LEVELS) % (2 * LEVELS));
    return last < 0 ? 0 : sizeOf(market, last);
  });
  const side = (first: number, price: (level: number) => number): Level[] =>
    levels
      .slice(first, first + LEVELS)
      .map((size, level) => ({ price: Number(price(level).toFixed(2)), size }))
      .filter(({ size }) => size > 0);
  return { bids: side(0, (level) => 0.49 - level / 100), asks: side(LEVELS, (level) => 0.51 + level / 100) };
}

/** Records books in SQL, as the recorder would have: changes, and snapshots as often as it makes them. */
export async function fillBooks(clickhouse: ClickHouse, span: BookSpan): Promise<void> {
  const { refs, changes } = span;
  for (let first = 0; first < refs.length; first += MARKETS_OF_INSERT) {
    const some = refs.slice(first, first + MARKETS_OF_INSERT);
    const params = { refs: some, first, changes, start: changeMs(span, 0) };
    await clickhouse.command(CHANGES, params);
    await clickhouse.command(SNAPSHOTS, params);
  }
}

const SIZE = (n: string): string => `if(${n} % 11 = 0, 0, ((${n} * 7919 + market * 104729) % 997) + 1)`;
const AT = `fromUnixTimestamp64Milli(toInt64({start:Int64} + n * ${STEP_MS}))`;
const MARKET = `number % length({refs:Array(String)}) AS slot, {first:UInt64} + slot AS market`;

const CHANGES = `
INSERT INTO book_changes (platform, ref, outcome, sequence, side, price, size, exchange_at, received_at, polled)
SELECT 'kalshi', {refs:Array(String)}[slot + 1], 'yes', ${EPOCH} + n + 1, if(level < ${LEVELS}, 'bid', 'ask'),
  toDecimal64(if(level < ${LEVELS}, 49 - level, 31 + level), 10) / 100, ${SIZE('n')}, ${AT}, ${AT}, false
FROM (
  SELECT ${MARKET}, toInt64(intDiv(number, length({refs:Array(String)}))) AS n, n % ${2 * LEVELS} AS level
  FROM numbers({changes:UInt64} * length({refs:Array(String)}))
)`;

const LAST = (level: string): string => `n - positiveModulo(n - ${level}, ${2 * LEVELS})`;
const sideArrays = (first: number, cents: string): string => {
  const levels = `arrayFilter(level -> ${LAST('level')} >= 0 AND ${SIZE(`(${LAST('level')})`)} > 0, range(${first}, ${first + LEVELS}))`;
  return `arrayMap(level -> toDecimal64(${cents}, 10) / 100, ${levels}), arrayMap(level -> ${SIZE(`(${LAST('level')})`)}, ${levels})`;
};

/** The first is the book behind the first change. */
const SNAPSHOTS = `
INSERT INTO book_snapshots (platform, ref, outcome, sequence, begins, bid_prices, bid_sizes, ask_prices, ask_sizes, exchange_at, received_at, polled)
SELECT 'kalshi', {refs:Array(String)}[slot + 1], 'yes', ${EPOCH} + n + 1, n = 0, ${sideArrays(0, '49 - level')}, ${sideArrays(LEVELS, '31 + level')}, ${AT}, ${AT}, false
FROM (
  SELECT ${MARKET}, toInt64(intDiv(number, length({refs:Array(String)})) * ${SNAPSHOT_CHANGES}) AS n
  FROM numbers((intDiv({changes:UInt64} - 1, ${SNAPSHOT_CHANGES}) + 1) * length({refs:Array(String)}))
)`;
