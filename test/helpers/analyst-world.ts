import { createHash } from 'node:crypto';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** A made-up world of which every figure can be computed with whole numbers: prices are cents, sizes whole contracts. */
export interface MadeTrade {
  market: (typeof MARKETS)[number];
  id: string;
  atMs: number;
  side: 'buy' | 'sell';
  outcome: 0 | 1;
  cents: number;
  size: number;
  wallet: string;
}

export const DAY = 86_400_000;
/** A Monday. */
export const START = Date.UTC(2026, 0, 5);
const DAYS = 21;
const wallet = (n: number): string => `0x${String(n).repeat(40)}`;

export const MARKETS = [
  { platform: 'kalshi', ref: 'KXA', id: 'KXA', title: 'Will A win?', category: 'Politics', paid: null },
  { platform: 'kalshi', ref: 'KXB', id: 'KXB', title: 'Will B win?', category: 'Sports', paid: 100 },
  { platform: 'polymarket', ref: '0xc', id: '501', title: 'Will C win?', category: 'Sports', paid: 0 },
  { platform: 'polymarket', ref: '0xd', id: '502', title: 'Will D win?', category: 'Politics', paid: null },
  { platform: 'limitless', ref: 'e', id: 'e', title: 'Will E win?', category: 'Crypto', paid: null },
] as const;

/** A whole number of [0, below) that depends on its name alone. */
const drawn = (name: string, below: number): number =>
  createHash('sha256').update(name).digest().readUInt32BE() % below;

export const TRADES: readonly MadeTrade[] = Array.from({ length: 600 }, (_, n): MadeTrade => {
  const market = MARKETS[drawn(`market ${n}`, MARKETS.length)]!;
  return {
    market,
    id: `t${n}`,
    atMs: START + Math.floor((n * DAYS * DAY) / 600) + drawn(`at ${n}`, 1000),
    side: drawn(`side ${n}`, 3) > 0 ? 'buy' : 'sell',
    outcome: drawn(`outcome ${n}`, 4) === 0 ? 1 : 0,
    cents: 1 + drawn(`cents ${n}`, 99),
    size: 1 + drawn(`size ${n}`, 3000),
    // Wallets come one after another, so that weeks have cohorts.
    wallet: market.platform === 'kalshi' ? '' : wallet(drawn(`wallet ${n}`, 1 + Math.floor(n / 70))),
  };
});

export const QUOTES = MARKETS.flatMap((market) =>
  Array.from({ length: DAYS }, (_, day) => {
    const bid = 10 + drawn(`bid ${market.ref} ${day}`, 70);
    return { market, atMs: START + day * DAY, bid, ask: bid + 1 + drawn(`ask ${market.ref} ${day}`, 9) };
  }),
);

const iso = (ms: number): string => new Date(ms).toISOString();
const price = (cents: number): string => (cents / 100).toFixed(2);

/** Stores it all. */
export async function storeAnalystWorld(store: ClickHouse): Promise<void> {
  const seen = { first_seen_at: iso(START), version: iso(START) };
  await store.insert(
    'markets (platform, ref, platform_id, title, outcome_names, category, first_seen_at, version)',
    MARKETS.map(({ platform, ref, id, title, category }) => {
      return { platform, ref, platform_id: id, title, outcome_names: ['Yes', 'No'], category, ...seen };
    }),
  );
  await store.insert(
    'market_state (platform, ref, status, prices, bids, asks, liquidity, resolved_at, first_seen_at, synced_at)',
    MARKETS.map(({ platform, ref, paid }) => ({
      platform,
      ref,
      status: paid === null ? 'open' : 'settled',
      prices: paid === null ? ['0.5', '0.5'] : [price(paid), price(100 - paid)],
      bids: [],
      asks: [],
      liquidity: '0',
      resolved_at: paid === null ? null : iso(START + DAYS * DAY),
      first_seen_at: iso(START),
      synced_at: iso(START),
    })),
  );
  await store.insert(
    'trades (platform, ref, executed_at, trade_order, id_form, id_text, outcome, outcome_index, series, side, price, size, trader_text, is_block)',
    TRADES.map(({ market: { platform, ref }, id, atMs, side, outcome, cents, size, wallet: trader }, n) => ({
      platform,
      ref,
      executed_at: iso(atMs),
      trade_order: String(n),
      id_form: 'text',
      id_text: id,
      outcome: ['yes', 'no'][outcome],
      outcome_index: outcome,
      series: 0,
      side,
      price: price(cents),
      size: String(size),
      trader_text: trader,
      is_block: false,
    })),
  );
  await store.insert(
    'market_snapshots (platform, ref, at, status, price, bid, ask, liquidity)',
    QUOTES.map(({ market: { platform, ref }, atMs, bid, ask }) => {
      return {
        platform,
        ref,
        at: iso(atMs),
        status: 'open',
        price: price(bid),
        bid: price(bid),
        ask: price(ask),
        liquidity: '0',
      };
    }),
  );
}

/** The rows of each name. */
export function groupBy<T>(rows: readonly T[], name: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) groups.set(name(row), [...(groups.get(name(row)) ?? []), row]);
  return groups;
}
