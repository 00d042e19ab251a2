import { expect, test } from 'vitest';
import { QuotedMarkets, type QuotedMarketsDeps } from '../../ingest/live/quoted-markets.ts';
import type { Platform } from '../../src/core/model.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { SocketQuote } from '../../src/platforms/sockets/contract.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { silent } from '../helpers/silent-log.ts';

const quote = (ref: string, bid: bigint): SocketQuote => ({
  ref,
  bid,
  ask: null,
  bidSize: null,
  askSize: null,
  exchangeAtMs: null,
});

/** A store with one price for all listed markets, whose reads take `readMs` and return what was stored at their beginning. */
function start({ isListed = () => true, readMs = 0 }: { isListed?: (ref: string) => boolean; readMs?: number } = {}) {
  const clock = virtualClock();
  const store = { price: '0.4', fails: false };
  const asked: string[] = [];
  const seen: string[] = [];
  const listed = (refs: readonly string[]): string[] => refs.filter(isListed);
  const deps = {
    clock,
    log: silent,
    directory: {
      storedByRef: async (platform: string, refs: string[]) =>
        new Map(listed(refs).map((ref) => [ref, { platform, ref } as StoredMarket])),
    },
    clickhouse: {
      query: async (_name: string, _row: unknown, given: { platforms: string[]; refs: string[] }) => {
        const { price, fails } = store;
        asked.push(given.refs.join());
        if (readMs > 0) await clock.sleep(readMs);
        if (fails) throw new Error('the store is away');
        const rows = given.refs.map((ref, n) => ({ of_platform: given.platforms[n], ref, price, volume_total: '7' }));
        return rows.filter(({ ref }) => isListed(ref));
      },
    },
  } as unknown as QuotedMarketsDeps;
  const quoted = new QuotedMarkets(
    deps,
    ({ ref, bid }, { market, price }) => void seen.push(`${market.platform} ${ref} ${bid} ${price}`),
  );
  const take = (ref: string, bid: bigint, platform: Platform = 'kalshi'): void =>
    quoted.take(platform, quote(ref, bid), 0);
  return { clock, store, asked, seen, quoted, take };
}

test('quotes of listed markets are handed on, the newest of each, after one look-up for all platforms', async () => {
  const { clock, asked, seen, take } = start({ isListed: (ref) => ref !== 'X' });
  take('A', 1n);
  take('X', 1n);
  take('A', 2n);
  take('B', 3n);
  take('B', 5n, 'limitless');
  await clock.until(() => expect(seen).toEqual(['kalshi A 2 0.4', 'kalshi B 3 0.4', 'limitless B 5 0.4']));
  take('A', 4n);
  take('X', 4n);
  expect(seen.at(-1)).toBe('kalshi A 4 0.4');
  expect(asked).toEqual(['A,X,B,B']);
});

test('an unlisted market is looked up again within seconds, less often the longer it stays so', async () => {
  const listed = new Set<string>();
  const { clock, asked, seen, quoted, take } = start({ isListed: (ref) => listed.has(ref) });
  const lookUps = (ref: string): number => asked.filter((refs) => refs === ref).length;
  const quoteFor = async (seconds: number, ref: string): Promise<void> => {
    for (let n = 0; n < seconds * 2; n += 1) {
      take(ref, 1n);
      await clock.advance(500);
    }
  };
  await quoteFor(5, 'NEW');
  listed.add('NEW');
  await quoteFor(4, 'NEW');
  expect(seen).toContain('kalshi NEW 1 0.4');
  await quoteFor(600, 'NEVER');
  expect(lookUps('NEVER')).toBeGreaterThan(10);
  expect(lookUps('NEVER')).toBeLessThan(25);
  await quoteFor(60, 'NEW');
  expect(lookUps('NEW')).toBeLessThan(5);
  quoted.stop();
});

test('stored prices are read for markets with quotes alone, together, one read at a time and none lost', async () => {
  const { clock, store, asked, seen, quoted, take } = start({ readMs: 1500 });
  take('A', 1n);
  await clock.advance(100);
  store.price = '0.5';
  // Stored while the first look-up runs, which may have missed it.
  quoted.stored('kalshi', ['A', 'B']);
  await clock.advance(5000);
  take('A', 2n);
  expect([asked, seen]).toEqual([
    ['A', 'A'],
    ['kalshi A 1 0.4', 'kalshi A 2 0.5'],
  ]);
  store.price = '0.6';
  quoted.stored('kalshi', ['A']);
  quoted.stored('kalshi', ['A', 'X']);
  await clock.advance(100);
  store.price = '0.7';
  quoted.stored('kalshi', ['A']);
  take('A', 3n);
  expect(seen.at(-1)).toBe('kalshi A 3 0.5');
  await clock.advance(5000);
  take('A', 4n);
  expect([asked.slice(2), seen.at(-1)]).toEqual([['A', 'A'], 'kalshi A 4 0.7']);
  quoted.stop();
});

test('a market that no process reported as stored is read again within minutes, and its quotes do not wait for it', async () => {
  const { clock, store, seen, quoted, take } = start();
  take('A', 1n);
  await clock.advance(300_000);
  store.price = '0.5';
  take('A', 2n);
  expect(seen.at(-1)).toBe('kalshi A 2 0.4');
  await clock.advance(2000);
  take('A', 3n);
  expect(seen.at(-1)).toBe('kalshi A 3 0.5');
  quoted.stop();
});

test('a failed read leaves the prices as they are, and is repeated with what was stored since', async () => {
  const { clock, store, asked, seen, quoted, take } = start({ readMs: 1500 });
  take('A', 1n);
  take('B', 1n);
  await clock.advance(2000);
  Object.assign(store, { price: '0.5', fails: true });
  quoted.stored('kalshi', ['A']);
  await clock.advance(2000);
  take('A', 2n);
  expect(seen.at(-1)).toBe('kalshi A 2 0.4');
  store.fails = false;
  quoted.stored('kalshi', ['B']);
  await clock.advance(6000);
  take('A', 3n);
  take('B', 3n);
  expect([asked.at(-1), seen.slice(-2)]).toEqual(['A,B', ['kalshi A 3 0.5', 'kalshi B 3 0.5']]);
  quoted.stop();
});
