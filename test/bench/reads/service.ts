import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type ClickHouse, openClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../../src/stores/clickhouse/migrations.ts';
import type { TestApp } from '../../helpers/app.ts';
import { startService } from '../cached-lists.ts';
import { copyAll } from '../copy-all.ts';
import { fillStore } from '../fill.ts';
import { mergesEnd, withoutAnswers } from '../uncached-service.ts';
import { type Crowd, openCrowd } from './crowd.ts';
import type { Refs } from './routes.ts';

/** A service over a store that was filled, which caches no answer, and clients that ask for its markets. */
export interface FilledService {
  service: TestApp;
  store: ClickHouse;
  crowd: Crowd;
  refs: Refs;
  /** A file of `refs`, for other processes. */
  refsFile: string;
  /** For what else the run writes; it ends with the service. */
  directory: string;
  close(): Promise<void>;
}

export async function startFilledService(size: { trades: number; markets: number }): Promise<FilledService> {
  const log = pino({ level: 'silent' });
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const settings = { dataDir: directory, CLICKHOUSE_MEMORY_MB: 6000, CLICKHOUSE_URL: undefined };
  const store = await openClickHouse(settings, log);
  const closers: (() => Promise<unknown>)[] = [
    () => rm(directory, { recursive: true, force: true }),
    () => store.close(),
  ];
  const close = async (): Promise<void> => {
    for (const each of closers.toReversed()) await each();
  };
  try {
    await migrateClickHouse(store, log);
    const refs = await fillStore(store, size);
    const refsFile = join(directory, 'refs.json');
    await writeFile(refsFile, JSON.stringify(refs));
    await mergesEnd(store);
    const service = await startService({ clickhouse: store, shared: withoutAnswers() });
    closers.push(() => service.close());
    await copyAll({ clickhouse: store, postgres: service.postgres, log });
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const crowd = openCrowd(refsFile);
    closers.push(async () => crowd.close());
    return { service, store, crowd, refs, refsFile, directory, close };
  } catch (error) {
    await close();
    throw error;
  }
}
