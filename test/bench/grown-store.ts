import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { Platform } from '../../src/core/model.ts';
import { ingestInto } from './ingest.ts';
import { quantile } from './quantile.ts';
import { mergesEnd, startUncached, timeMs } from './uncached-service.ts';

/** What a large store costs beside answers. */
export interface Grown {
  /** From the last insert until nothing was merged any more, at most three minutes. */
  mergesMs: number;
  /** From opening the store to its first answer about the trades. */
  startMs: number;
  /** Trades a second of ingestion into this store with a read beside it, and into an empty one alone. */
  tradesPerSecond: number;
  emptyTradesPerSecond: number;
  /** GET markets/trades one after another meanwhile, and before. */
  besideP50: number;
  aloneP50: number;
}

const READS = 100;

/** Ingestion into the store beside reads from it. */
export async function measureGrown(
  store: ClickHouse,
  directory: string,
  refs: Record<Platform, string[]>,
): Promise<Omit<Grown, 'mergesMs' | 'startMs'>> {
  await mergesEnd(store);
  const service = await startUncached(store);
  let turn = 0;
  const read = (): Promise<number> => {
    const market = refs.polymarket[((turn += 1) * 7) % 500] ?? '';
    return timeMs(() => service.get(`markets/trades?provider=polymarket&market_id=${market}&limit=100`));
  };
  const [alone, beside]: [number[], number[]] = [[], []];
  for (let i = 0; i < READS; i += 1) alone.push(await read());
  const ends = new AbortController();
  let reading = Promise.resolve();
  const readOn = async (): Promise<void> => {
    while (!ends.signal.aborted) {
      beside.push(await read());
      await sleep(20);
    }
  };
  try {
    const speeds = await ingestInto(store, directory, () => (reading = readOn()));
    return { ...speeds, besideP50: quantile(beside, 0.5), aloneP50: quantile(alone, 0.5) };
  } finally {
    ends.abort();
    await reading;
    await service.close();
  }
}
