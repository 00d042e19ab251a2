import { keysOf, portOf } from '../cached-lists.ts';
import { memoryOf } from '../memory.ts';
import { quantile } from '../quantile.ts';
import type { Asked } from './crowd.ts';
import { type Peer, startPeer } from './peer.ts';
import { READ_ROUTES } from './routes.ts';
import { type FilledService, startFilledService } from './service.ts';
import { ingestSteadily } from './steady-trades.ts';

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
  const startedMs = performance.now();
  const filled = await startFilledService(size);
  try {
    const peer = await startPeer(filled.directory, filled.refsFile, size.trades);
    try {
      const filledSeconds = (performance.now() - startedMs) / 1000;
      return { ...size, filledSeconds, ...(await measure({ ...filled, peer, seconds: size.seconds })) };
    } finally {
      await peer.close();
    }
  } finally {
    await filled.close();
  }
}

interface Parts extends Pick<FilledService, 'service' | 'crowd' | 'refs'> {
  peer: Peer;
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
  const ingestion = await ingestSteadily(service, refs, TRADES_PER_SECOND);
  const busyOurs = await mix(ours);
  await ingestion.stop();
  await peer.ingest(TRADES_PER_SECOND);
  const busy = { ours: busyOurs, peer: await mix(peer.port) };
  await peer.ingest(0);
  return { oneByOne, quiet, busy, postgresMb: memoryOf(process.pid, [peer.pid]).postgres };
}

export const quantilesOf = (times: readonly number[]): Quantiles => ({
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
});

const mixOf = ({ latencies, tookMs }: Asked): Mix => ({
  perSecond: (Object.values(latencies).reduce((sum, { length }) => sum + length, 0) * 1000) / tookMs,
  routes: Object.fromEntries(Object.entries(latencies).map(([name, times]) => [name, quantilesOf(times)])),
});
