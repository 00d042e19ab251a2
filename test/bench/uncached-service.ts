import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { systemClock } from '../../src/core/time.ts';
import { copyAll } from './copy-all.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import type { TestAppOptions } from '../helpers/app.ts';
import { keysOf, portOf, startService } from './cached-lists.ts';
import { askThrough, requestText } from './plain-client.ts';
import { recordStatements, type StatementRecorder } from './statements.ts';

const log = pino({ level: 'silent' });
const MERGES_MS = 180_000;
const USERS = 10;

/** Answers are made anew each time. What is read once for the same windows, and up to when trades are complete, stay known. */
export function withoutAnswers(): Shared {
  const local = createLocalShared(log, systemClock);
  return {
    ...local,
    localCache: { ...local.localCache, get: () => undefined },
    cached: async (key, ttlMs, load) =>
      key.startsWith('windows:') || key === 'freshness'
        ? local.cached(key, ttlMs, load)
        : { value: await load(), hit: false },
  };
}

/** A service over a filled store that answers each call anew. */
export interface UncachedService {
  recorder: StatementRecorder;
  get(path: string): Promise<void>;
  close(): Promise<void>;
}

export async function startUncached(
  store: ClickHouse,
  options: Pick<TestAppOptions, 'platforms'> = {},
): Promise<UncachedService> {
  const recorder = recordStatements(store);
  const service = await startService({ clickhouse: recorder.store, shared: withoutAnswers(), ...options });
  await copyAll({ clickhouse: store, postgres: service.postgres, log });
  // Each may ask 500 times a second here; some answers take less than 2 ms.
  const keys = await keysOf(service, USERS);
  let turn = 0;
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect(portOf(service.app), '127.0.0.1');
  return {
    recorder,
    async get(path) {
      const requests = [requestText(`/v1/api/${path}`, keys[(turn += 1) % USERS] ?? '')];
      await askThrough(socket, () => requests.pop() ?? null);
    },
    async close() {
      socket.destroy();
      await service.close();
    },
  };
}

/** Waits until the store has no merges under way, within bounds. */
export async function mergesEnd(store: ClickHouse): Promise<void> {
  for (const end = Date.now() + MERGES_MS; Date.now() < end;) {
    const [row] = await store.sql<{ n: string }>('SELECT count() AS n FROM system.merges');
    if (row?.n === '0') return;
    await sleep(500);
  }
}

export const timeMs = async (run: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await run();
  return performance.now() - started;
};
