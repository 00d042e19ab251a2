import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { QuotedMarkets, type QuotedMarketsDeps } from '../../ingest/live/quoted-markets.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { SocketQuote } from '../../src/platforms/sockets/contract.ts';

const quote = (ref: string, bid: bigint): SocketQuote => ({
  ref,
  bid,
  ask: null,
  bidSize: null,
  askSize: null,
  exchangeAtMs: null,
});

test('quotes of listed markets that are not followed are handed on, the newest of each, after one look-up', async () => {
  const asked: string[][] = [];
  const deps = {
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
  await vi.waitFor(() => expect(seen).toEqual(['A 2 7', 'B 3 7']));
  quoted.take(quote('A', 4n), 0);
  quoted.take(quote('X', 4n), 0);
  expect(seen.at(-1)).toBe('A 4 7');
  expect(asked).toEqual([['A', 'X', 'B']]);
});
