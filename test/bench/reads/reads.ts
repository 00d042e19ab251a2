import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { copyAll } from '../copy-all.ts';
import { openClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../../src/stores/clickhouse/migrations.ts';
import type { TestApp } from '../../helpers/app.ts';
import { keysOf, portOf, startService } from '../cached-lists.ts';
import { fillStore } from '../fill.ts';
import { memoryOf } from '../memory.ts';
import { quantile } from '../quantile.ts';
import { mergesEnd, withoutAnswers } from '../uncached-service.ts';
import { type Crowd, type Asked, openCrowd } from './crowd.ts';
import { type Peer, startPeer } from './peer.ts';
import { READ_ROUTES, type Refs } from './routes.ts';
import { ingestSteadily } from './steady-trades.ts';

const log = pino({ level: 'silent' });
const CONNECTIONS = 16;
/** Each may ask 500 times a second here. */
const USERS = 10;
const TRADES_PER_SECOND = 100;
const ALL = READ_ROUTES.map(({ name }) => name);
const ONE_BY_ONE = ['markets/id', 'lists', 'newest trades'];

export interface ReadsSize {
  trades: number;
  markets: number;
  /** How long each measurement takes. */
  seconds: number;
}

/** Milliseconds of a route's answers. */
export interface Quantiles {
  p50: number;
  p99: number;
}

/** The mix: answers a second, and the times of each route. */
export interface Mix {
  perSecond: number;
  routes: Record<string, Quantiles>;
}

/** The same of the service and of the peer. */
export interface Beside<T> {
  ours: T;
  peer: T;
}

export interface ReadsResult extends ReadsSize {
  /** Seconds until both stores were filled and the service had copied its markets. */
  filledSeconds: number;
  quiet: Beside<Mix>;
  /** With ingestion of TRADES_PER_SECOND into the store that is measured. */
  busy: Beside<Mix>;
  /** One call after another, nothing else running. */
  oneByOne: Record<string, Beside<Quantiles>>;
  /** Megabytes of the processes of the service's PostgreSQL after all of it. */
  postgresMb: number;
}

/** Uncached reads of random markets over many connections, beside a plain Fastify over PostgreSQL in the same run. */
export async function benchReads(size: ReadsSize): Promise<ReadsResult> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const store = await openClickHouse(
    { dataDir: directory, CLICKHOUSE_MEMORY_MB: 6000, CLICKHOUSE_URL: undefined },
    log,
  );
  const closers: (() => Promise<unknown>)[] = [
    () => rm(directory, { recursive: true, force: true }),
    () => store.close(),
  ];
  try {
    await migrateClickHouse(store, log);
    const startedMs = performance.now();
    const refs = await fillStore(store, size);
    const refsFile = join(directory, 'refs.json');
    await writeFile(refsFile, JSON.stringify(refs));
    const peer = await startPeer(directory, refsFile, size.trades);
    closers.push(() => peer.close());
    await mergesEnd(store);
    const service = await startService({ clickhouse: store, shared: withoutAnswers() });
    closers.push(() => service.close());
    await copyAll({ clickhouse: store, postgres: service.postgres, log });
    const filledSeconds = (performance.now() - startedMs) / 1000;
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const crowd = openCrowd(refsFile);
    closers.push(async () => crowd.close());
    return { ...size, filledSeconds, ...(await measure({ service, peer, crowd, refs, seconds: size.seconds })) };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

interface Parts {
  service: TestApp;
  peer: Peer;
  crowd: Crowd;
  refs: Refs;
  seconds: number;
}

async function measure({ service, peer, crowd, refs, seconds }: Parts) {
  const keys = await keysOf(service, USERS);
  const ms = seconds * 1000;
  const ask = (port: number, routes: string[], connections: number, during: number): Promise<Asked> =>
    crowd.ask({ port, routes, keys, connections, ms: during });
  const mix = async (port: number): Promise<Mix> => mixOf(await ask(port, ALL, CONNECTIONS, ms));
  const ours = portOf(service.app);
  // A service that runs has its code compiled and its statements prepared.
  for (const port of [ours, peer.port]) await ask(port, ALL, CONNECTIONS, ms / 2);
  const oneByOne: ReadsResult['oneByOne'] = {};
  for (const name of ONE_BY_ONE) {
    const one = async (port: number) => quantilesOf((await ask(port, [name], 1, ms / 4)).latencies[name] ?? []);
    oneByOne[name] = { ours: await one(ours), peer: await one(peer.port) };
  }
  const quiet = { ours: await mix(ours), peer: await mix(peer.port) };
  const stop = await ingestSteadily(service, refs, TRADES_PER_SECOND);
  const busyOurs = await mix(ours);
  await stop();
  await peer.ingest(TRADES_PER_SECOND);
  const busy = { ours: busyOurs, peer: await mix(peer.port) };
  await peer.ingest(0);
  return { oneByOne, quiet, busy, postgresMb: memoryOf(process.pid, [peer.pid]).postgres };
}

const quantilesOf = (times: readonly number[]): Quantiles => ({
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
});

const mixOf = ({ latencies, tookMs }: Asked): Mix => ({
  perSecond: (Object.values(latencies).reduce((sum, { length }) => sum + length, 0) * 1000) / tookMs,
  routes: Object.fromEntries(Object.entries(latencies).map(([name, times]) => [name, quantilesOf(times)])),
});
