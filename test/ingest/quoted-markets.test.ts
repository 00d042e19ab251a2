import { pino } from 'pino';
import { expect, test } from 'vitest';
import { QuotedMarkets, type QuotedMarketsDeps } from '../../ingest/live/quoted-markets.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { SocketQuote } from '../../src/platforms/sockets/contract.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const quote = (ref: string, bid: bigint): SocketQuote => ({
  ref,
  bid,
  ask: null,
  bidSize: null,
  askSize: null,
  exchangeAtMs: null,
});

test('quotes of listed markets that are not followed are handed on, the newest of each, after one look-up', async () => {
  const clock = virtualClock();
  const asked: string[][] = [];
  const deps = {
    clock,
    platform: 'kalshi',
    log: pino({ level: 'silent' }),
    directory: {
      storedByRef: async (_platform: string, refs: string[]) => {
        asked.push(refs);
        return new Map(refs.flatMap((ref) => (ref === 'X' ? [] : [[ref, { ref } as StoredMarket] as const])));
      },
    },
    clickhouse: {
      query: async (_name: string, _row: unknown, { refs }: { refs: string[] }) =>
        refs.map((ref) => ({ ref, price: '0.4', volume_total: '7' })),
    },
  } as unknown as QuotedMarketsDeps;
  const seen: string[] = [];
  const quoted = new QuotedMarkets(
    deps,
    ({ ref, bid }, { volumeTotal }) => void seen.push(`${ref} ${bid} ${volumeTotal}`),
  );
  for (const [ref, bid] of [
    ['A', 1n],
    ['X', 1n],
    ['A', 2n],
    ['B', 3n],
  ] as const)
    quoted.take(quote(ref, bid), 0);
  await clock.until(() => expect(seen).toEqual(['A 2 7', 'B 3 7']));
  quoted.take(quote('A', 4n), 0);
  quoted.take(quote('X', 4n), 0);
  expect(seen.at(-1)).toBe('A 4 7');
  expect(asked).toEqual([['A', 'X', 'B']]);
});

test('an unlisted market is looked up again within seconds, less often the longer it stays so', async () => {
  const clock = virtualClock();
  const listed = new Set<string>();
  const asked: Record<string, number> = { NEW: 0, NEVER: 0 };
  const deps = {
    clock,
    platform: 'kalshi',
    log: pino({ level: 'silent' }),
    directory: {
      storedByRef: async (_platform: string, refs: string[]) => {
        for (const ref of refs) asked[ref]! += 1;
        return new Map(refs.flatMap((ref) => (listed.has(ref) ? [[ref, { ref } as StoredMarket] as const] : [])));
      },
    },
    clickhouse: {
      query: async (_name: string, _row: unknown, { refs }: { refs: string[] }) =>
        refs.filter((ref) => listed.has(ref)).map((ref) => ({ ref, price: null, volume_total: null })),
    },
  } as unknown as QuotedMarketsDeps;
  const seen: string[] = [];
  const quoted = new QuotedMarkets(deps, ({ ref }) => void seen.push(ref));
  const quoteFor = async (seconds: number, ref: string): Promise<void> => {
    for (let n = 0; n < seconds * 2; n += 1) {
      quoted.take(quote(ref, 1n), 0);
      await clock.advance(500);
    }
  };
  await quoteFor(5, 'NEW');
  listed.add('NEW');
  await quoteFor(4, 'NEW');
  expect(seen).toContain('NEW');
  await quoteFor(600, 'NEVER');
  expect(asked['NEVER']).toBeGreaterThan(10);
  expect(asked['NEVER']).toBeLessThan(25);
  await quoteFor(60, 'NEW');
  expect(asked['NEW']).toBeLessThan(5);
  quoted.stop();
});
