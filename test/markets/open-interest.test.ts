import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { clockAt } from '../helpers/virtual-clock.ts';
import { parseUsd, type Usd } from '../../src/core/decimal.ts';
import { PlatformError } from '../../src/core/errors.ts';
import { currentOpenInterest } from '../../src/markets/open-interest.ts';
import type { PlatformData, ReadContext } from '../../src/platforms/contract.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { silent } from '../helpers/silent-log.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();

/** A market whose platform answers with `answer`; `asked` holds what it was asked for. */
function marketOf(answer: (ref: string, context: ReadContext) => Promise<Usd | undefined>) {
  const asked: ReadContext[] = [];
  const openInterest = async ([ref = '']: string[], context: ReadContext) => {
    asked.push(context);
    const usd = await answer(ref, context);
    return new Map(usd === undefined ? [] : [[ref, { value: usd, at: ago(4) }]]);
  };
  const data = { openInterest } as Partial<PlatformData> as PlatformData;
  const deps = {
    platforms: { polymarket: data },
    shared: createLocalShared(silent, systemClock),
    onBadRow: () => {},
    clock: clockAt(() => NOW),
  };
  const read = (value: number | null, metadata = {}) =>
    currentOpenInterest(deps, { platform: 'polymarket', ref: '0xab', value, metadata }, 'ann');
  return { asked, read };
}
const known = () => marketOf(async () => parseUsd('77.5'));

test('a figure of the last ten minutes is answered as it is stored', async () => {
  const { asked, read } = known();
  const metadata = { open_interest_basis: 'usd', open_interest_at: ago(10) };
  expect(await read(5, metadata)).toEqual({ value: 5, metadata });
  expect(asked).toEqual([]);
});

test.each([
  ['unknown', null, {}],
  ['older than ten minutes', 5, { open_interest_at: ago(10.1) }],
  ['of an unknown age', 5, {}],
])(
  'one that is %s is read from the platform at once, as a live read that counts against the caller, and once for all who ask',
  async (_, value, metadata) => {
    const { asked, read } = known();
    const answers = await Promise.all([read(value, metadata), read(value, metadata)]);
    // The platform may have made its page a while ago.
    const now = { open_interest_basis: 'usd', open_interest_at: ago(4) };
    for (const answer of [...answers, await read(value, metadata)])
      expect(answer).toEqual({ value: 77.5, metadata: now });
    expect(asked).toMatchObject([{ priority: 'live', user: 'ann' }]);
  },
);

test('a market that the platform leaves out has none, and no word of a basis', async () => {
  const { read } = marketOf(async () => undefined);
  const answer = await read(5, { open_interest_basis: 'usd', open_interest_at: ago(60), kept: 1 });
  expect(answer).toEqual({ value: null, metadata: { kept: 1 } });
});

test('a market that cannot be read keeps its stored figure, and is asked for again', async () => {
  let isOdd = true;
  const { asked, read } = marketOf(async (ref, { onBadRow }) => {
    if (!isOdd) return parseUsd('77.5');
    onBadRow({ platform: 'polymarket', kind: 'market', id: ref, reason: 'could not be read: HTTP 500' });
    return undefined;
  });
  const stored = { value: 5, metadata: { open_interest_basis: 'usd', open_interest_at: ago(60) } };
  expect(await read(5, stored.metadata)).toEqual(stored);
  isOdd = false;
  expect((await read(5, stored.metadata)).value).toBe(77.5);
  expect(asked).toHaveLength(2);
});

test('where the platform fails, or needs more than a second, the stored figure stands with its time, and it is asked again', async () => {
  let slow = false;
  const { asked, read } = marketOf(async (_, { signal }) => {
    if (slow) await sleep(5000, undefined, { signal }).catch(() => {});
    throw new PlatformError('polymarket', 'unavailable', {});
  });
  const stored = { value: 5, metadata: { open_interest_basis: 'usd', open_interest_at: ago(60) } };
  expect(await read(stored.value, stored.metadata)).toEqual(stored);
  slow = true;
  const startedMs = performance.now();
  expect(await read(stored.value, stored.metadata)).toEqual(stored);
  expect((await read(null)).value).toBeNull();
  expect(performance.now() - startedMs).toBeLessThan(6000);
  expect(asked).toHaveLength(3);
});

test('where the listing brings the figure, the platform is not asked', async () => {
  const shared = createLocalShared(silent, systemClock);
  const deps = { platforms: {}, shared, onBadRow: () => {}, clock: clockAt(() => NOW) };
  const stored = { platform: 'kalshi', ref: 'KXA', value: 9, metadata: { open_interest_basis: 'contracts' } } as const;
  expect(await currentOpenInterest(deps, stored, 'ann')).toEqual({ value: 9, metadata: stored.metadata });
});
