import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type PlatformError, toApiError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/core/time.ts';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { accountName } from '../../src/platforms/http/limit-group.ts';
import type { PlatformHttp, PlatformRequest } from '../../src/platforms/http/request.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { silent } from '../helpers/silent-log.ts';
import { createSimServer, json, type SimServer } from '../simulators/lib/index.ts';

/** How long a platform takes to answer the path /held, ms. */
const HELD_MS = 450;
const times = <T>(n: number, make: (n: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
/** What became of each call: 'sent', or the kind of its refusal. */
const outcomesOf = (calls: Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    calls.map((call) =>
      call.then(
        () => 'sent',
        (error: PlatformError) => error.kind,
      ),
    ),
  );

/** How the budgets of a platform are shared. `open` gives the state of one process, or what each of two processes holds of it. */
export function describeShares(where: string, clock: Clock, open: () => Promise<[Shared, Shared?]>): void {
  const clientOf = (shared: Shared) => createPlatformHttp({ shared, log: silent, clock });
  describe(`shares of the budgets of a platform, ${where}`, () => {
    let server: SimServer;
    let paths: string[] = [];
    let held = { at: [] as number[], open: 0, most: 0 };
    beforeAll(async () => {
      server = await createSimServer({
        handle: async ({ path }) => {
          paths.push(path);
          if (path !== '/held') return json(200, {});
          held.at.push(clock.elapsed());
          held.open += 1;
          held.most = Math.max(held.most, held.open);
          await clock.sleep(HELD_MS);
          held.open -= 1;
          return json(200, {});
        },
      });
    });
    afterAll(() => server.close());

    const clients: PlatformHttp[] = [];
    const start = async (): Promise<[PlatformHttp, PlatformHttp]> => {
      const [first, second = first] = await open();
      const one = clientOf(first);
      const other = second === first ? one : clientOf(second);
      clients.push(one, other);
      return [one, other];
    };
    afterEach(async () => {
      paths = [];
      held = { at: [], open: 0, most: 0 };
      for (const client of clients.splice(0)) await client.close();
    });

    const read = (path: string, given: Partial<PlatformRequest> = {}): PlatformRequest => ({
      platform: 'kalshi',
      group: 'kalshi:anonymous',
      method: 'GET',
      url: `${server.origin}/${path}`,
      priority: 'live',
      retry: true,
      ...given,
    });
    const count = (part: string): number => paths.filter((path) => path.includes(part)).length;

    test('callers leave half of a common budget to polling, however many they are', async () => {
      const [api, ingest] = await start();
      const users = outcomesOf(
        times(80, (n) => api.send(read(`caller${n}`, { user: `user${n % 20}`, timeoutMs: 4000 }))),
      );
      const polls = times(14, (n) => ingest.send(read(`poll${n}`, { priority: 'poll' })));
      const started = clock.elapsed();
      expect(new Set(await outcomesOf(polls))).toEqual(new Set(['sent']));
      // Fourteen calls at 2.5 a second, less the burst.
      expect(clock.elapsed() - started).toBeLessThan(7500);
      expect(new Set(await users)).toEqual(new Set(['sent', 'unavailable']));
      expect(count('caller')).toBeGreaterThan(5);
    });

    test('one user cannot take what is left to callers, and is answered 429 with the wait', async () => {
      const [api, other] = await start();
      const greedy = times(60, (n) => api.send(read(`greedy${n}`, { user: 'greedy' })));
      const ended = outcomesOf(greedy);
      const refused: unknown = await Promise.any(
        greedy.map((call) =>
          call.then(
            () => Promise.reject(),
            (error: unknown) => error,
          ),
        ),
      );
      expect(refused).toMatchObject({ kind: 'over_share', retryAfterMs: 800 });
      expect(toApiError(refused as PlatformError)).toMatchObject({ status: 429, retryAfter: 1 });
      const started = clock.elapsed();
      expect(await outcomesOf([other.send(read('modest', { user: 'modest' }))])).toEqual(['sent']);
      expect(clock.elapsed() - started).toBeLessThan(4000);
      const all = await ended;
      const countOf = (wanted: string): number => all.filter((outcome) => outcome === wanted).length;
      // A burst of ten, and 1.25 a second for the seconds that a call may wait.
      expect(countOf('sent')).toBeLessThanOrEqual(15);
      expect(countOf('over_share')).toBeGreaterThanOrEqual(45);
    });

    test('the share is counted by upstream calls and their cost, by platform', async () => {
      const [api] = await start();
      const dear = times(20, () => api.send(read('dear', { user: 'one', cost: 50, timeoutMs: 500 })));
      expect((await outcomesOf(dear)).filter((outcome) => outcome === 'sent').length).toBeLessThanOrEqual(2);
      const elsewhere = read('elsewhere', { platform: 'polymarket', group: 'polymarket:gamma/markets', user: 'one' });
      expect(await outcomesOf([api.send(elsewhere)])).toEqual(['sent']);
    });

    test('an order leaves at once while every share of reads is used up', async () => {
      const [api, ingest] = await start();
      const limitless = { platform: 'limitless', group: 'limitless:all' } as const;
      const reads = outcomesOf(times(60, (n) => api.send(read(`read${n}`, { ...limitless, user: `user${n % 9}` }))));
      const polls = outcomesOf(times(10, (n) => ingest.send(read(`poll${n}`, { ...limitless, priority: 'poll' }))));
      const account = accountName('id', 'secret');
      const started = clock.elapsed();
      await api.send(read('order', { ...limitless, account, method: 'POST', retry: false }));
      expect(clock.elapsed() - started).toBeLessThan(1000);
      await api.close();
      await ingest.close();
      await Promise.all([reads, polls]);
    });

    test('Limitless sees at most two calls at once and 300 ms between them, from all processes', async () => {
      const clients = await start();
      const call = read('held', { platform: 'limitless', group: 'limitless:all', priority: 'poll' });
      await Promise.all(times(6, (n) => clients[n % 2]?.send(call)));
      expect(held.at).toHaveLength(6);
      expect(held.most).toBe(2);
      expect(Math.min(...held.at.slice(1).map((at, n) => at - (held.at[n] ?? 0)))).toBeGreaterThanOrEqual(300);
    });
  });
}
