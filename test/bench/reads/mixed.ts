import { cursorNow, missingTrades, tradeKey, TradeFollower } from '../../helpers/trade-follower.ts';
import { instants, openSqlPort, rowsOfViews, someWallet } from '../analysts/analysts.ts';
import { analystQueries } from '../analysts/queries.ts';
import { keysOf, portOf } from '../cached-lists.ts';
import { type Quantiles, quantilesOf, type ReadsSize } from './reads.ts';
import { READ_ROUTES } from './routes.ts';
import { type FilledService, startFilledService } from './service.ts';
import { ingestSteadily } from './steady-trades.ts';

/** Fewer than the queries that wait at most, so that an answer other than 200 breaks a promise. */
const CONNECTIONS = 8;
/** Each may ask 500 times a second here. */
const USERS = 10;
const FOLLOWERS = 4;
const TRADES_PER_SECOND = 100;
const QUERIES = 10;
const ALL = READ_ROUTES.map(({ name }) => name);

/** Readers of a mixed crowd: answers a second, and milliseconds of markets/id and of all. */
interface Readers {
  perSecond: number;
  market: Quantiles;
  all: Quantiles;
}

export interface MixedResult extends ReadsSize {
  /** The crowd with and without an analyst, who asks one heavy query after another. */
  without: Readers;
  with: Readers;
  /** Queries of the analyst that were answered. */
  queries: number;
  /** Trades stored in that time, and what followers of the streams lack or had otherwise than promised. */
  ingested: number;
  followers: number;
  faults: string[];
}

/**
 * A mixed crowd for `seconds`: readers of all routes, followers of trades by both kinds of streams, ingestion and, in the second half,
 * an analyst on SQL_PORT. An answer other than 200 ends the run.
 */
export async function benchMixed(size: ReadsSize): Promise<MixedResult> {
  const filled = await startFilledService(size);
  try {
    return { ...size, ...(await measure(filled, size.seconds * 1000)) };
  } finally {
    await filled.close();
  }
}

async function measure({ service, store, crowd, refs }: FilledService, ms: number) {
  const keys = await keysOf(service, USERS);
  const [key = ''] = keys;
  const port = portOf(service.app);
  const read = async (forMs: number): Promise<Readers> =>
    readersOf(await crowd.ask({ port, routes: ALL, keys, connections: CONNECTIONS, ms: forMs }));
  // A service that runs has its code compiled and its statements prepared.
  await read(ms / 10);
  const following = { origin: () => `http://127.0.0.1:${port}`, key };
  const cursor = await cursorNow({ ...following, kind: 'sse' });
  const followers = Array.from(
    { length: FOLLOWERS },
    (_, n) => new TradeFollower({ ...following, kind: n % 2 === 0 ? 'sse' : 'ws' }, cursor),
  );
  const ingestion = await ingestSteadily(service, refs, TRADES_PER_SECOND);
  const without = await read(ms / 2);
  const analyst = await startAnalyst(store, refs.kalshi[0] ?? '');
  const beside = await read(ms / 2);
  const queries = await analyst.stop();
  await ingestion.stop();
  const written = new Set([...ingestion.written].map((id) => tradeKey('kalshi', id)));
  await Promise.all(followers.map((follower) => follower.caughtUp(written.size)));
  for (const follower of followers) await follower.stop();
  const faults = [...followers.flatMap((follower) => follower.faults), ...missingTrades(followers, written)];
  return { without, with: beside, queries, ingested: written.size, followers: FOLLOWERS, faults };
}

/** Asks ten of the analysts' questions again and again, each after the answer to the one before. */
async function startAnalyst(store: FilledService['store'], market: string) {
  if (!store.embedded) throw new Error('SQL_PORT is opened on the embedded engine');
  const { port, close } = await openSqlPort(store.embedded);
  const asked = {
    ...instants(Date.now()),
    market: { platform: 'kalshi', id: market },
    wallet: await someWallet(store),
  };
  const questions = analystQueries(asked).slice(0, QUERIES);
  const ends = new AbortController();
  const running = (async (): Promise<number> => {
    for (let answered = 0; ; answered += 1) {
      const question = questions[answered % questions.length];
      if (ends.signal.aborted || !question) return answered;
      await rowsOfViews(`http://127.0.0.1:${port}/`, question.views);
    }
  })();
  running.catch(() => {});
  return {
    async stop(): Promise<number> {
      ends.abort();
      const answered = await running;
      await close();
      return answered;
    },
  };
}

function readersOf({ latencies, tookMs }: { latencies: Record<string, number[]>; tookMs: number }): Readers {
  const all = Object.values(latencies).flat();
  return {
    perSecond: (all.length * 1000) / tookMs,
    market: quantilesOf(latencies['markets/id'] ?? []),
    all: quantilesOf(all),
  };
}

const row = ({ perSecond, market, all }: Readers) => ({
  'answers/s': perSecond.toFixed(0),
  'markets/id, p50 · p99, ms': `${market.p50.toFixed(1)} · ${market.p99.toFixed(0)}`,
  'all, p50 · p99, ms': `${all.p50.toFixed(1)} · ${all.p99.toFixed(0)}`,
});

/** Prints the table of a run. */
export function printMixed({ trades, markets, seconds, ...result }: MixedResult): void {
  process.stdout.write(
    `\nA mixed crowd for ${seconds} s: ${CONNECTIONS} readers, ${result.followers} followers, ${TRADES_PER_SECOND} trades/s, and an analyst in the second half: ${markets} markets, ${trades} trades\n`,
  );
  console.table({ 'without the analyst': row(result.without), 'with the analyst': row(result.with) });
  console.table({
    'p99 of markets/id, with ÷ without': {
      now: (result.with.market.p99 / result.without.market.p99).toFixed(2),
      target: '<= 2',
    },
    'queries of the analyst': { now: result.queries, target: '' },
    'trades stored, each pushed once to each follower': { now: result.ingested, target: '' },
    'faults of the streams': { now: result.faults.length, target: 0 },
  });
  for (const fault of result.faults.slice(0, 20)) process.stdout.write(`${fault}\n`);
  if (result.faults.length > 0) process.exitCode = 1;
}
