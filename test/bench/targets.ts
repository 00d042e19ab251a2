import type { ApiResult } from './api.ts';
import type { IngestResult } from './ingest.ts';
import type { MemoryResult } from './memory.ts';
import type { OrderBench } from './orders.ts';
import type { MixedResult } from './reads/mixed.ts';
import type { ReadsResult } from './reads/reads.ts';
import { readsTargets } from './reads/report.ts';
import type { StartResult } from './start.ts';

/** What one run measured, by part; a part that did not run is absent. */
export interface Measured {
  ingestion?: IngestResult;
  orders?: OrderBench;
  reads?: ReadsResult;
  mixed?: MixedResult;
  'few-trades'?: ApiResult;
  'many-trades'?: ApiResult;
  'hundred-million'?: ApiResult;
  memory?: MemoryResult;
  start?: StartResult;
}

/** A figure that has a target. */
export interface TargetRow {
  figure: string;
  now: string;
  target: string;
}

/** The figures of this run that have a target, in the order of docs/performance.md. */
export function targetRows(measured: Measured): TargetRow[] {
  const { ingestion, orders, reads, mixed, 'few-trades': few, memory, start } = measured;
  const rows: TargetRow[] = [];
  const row = (figure: string, values: readonly number[], digits: number, target: string): void => {
    if (values.length === 0) return;
    const shown = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
    rows.push({ figure, now: [...new Set(shown)].join(' to '), target });
  };
  if (memory) {
    row('npm start, first start, idle, MB', [memory.idle.total], 0, '<= 450');
    row('npm start, after the load, MB', [memory.loaded.total], 0, '<= 500');
    row('npm run api on servers, MB', [memory.api.total], 0, '<= 150');
  }
  if (reads) rows.push(...readsTargets(reads));
  if (mixed)
    row('p99 of markets/id beside an analyst / without', [mixed.with.market.p99 / mixed.without.market.p99], 2, '<= 2');
  if (few) {
    row('SELECT 1 through the client / in the engine', [few.selectOne.ofEngine], 2, '<= 2');
    for (const { endpoint, ofSelectOne, atMost } of few.endpoints) {
      if (atMost !== undefined) row(`${endpoint} / SELECT 1 through the client`, [ofSelectOne], 1, `<= ${atMost}`);
    }
  }
  const largest = measured['hundred-million'] ?? measured['many-trades'];
  if (few && largest) {
    const first = new Map(few.endpoints.map((one) => [one.endpoint, one.uncachedP50]));
    const ratios = largest.endpoints.map((one) => one.uncachedP50 / (first.get(one.endpoint) ?? Number.NaN));
    row(`any endpoint at ${largest.trades} trades / at ${few.trades}`, ratios, 2, '<= 1.5');
  }
  if (few) row('cached lists / bare route', column(few.cached, 'ofBare'), 2, '>= 0.8');
  if (orders) {
    const beyond = orders.platforms.map(({ addedP50 }) => addedP50 - orders.relay.addedP50);
    row('an order at 50 a second, added p50 beyond a relay, ms', beyond, 1, '<= 3');
  }
  if (ingestion) row('ingestion / ceiling, with every roll-up', [ingestion.ofCeiling], 2, '>= 0.9');
  const stored = measured['hundred-million'] ?? few;
  if (stored) {
    row('bytes a trade, raw', [stored.rawBytesPerTrade], 0, '<= 50');
    row('bytes a trade, with all roll-ups', [stored.allBytesPerTrade], 0, '<= 110');
  }
  if (start)
    row(
      'demo to the first good answer, s',
      start.demoMs.map((ms) => ms / 1000),
      1,
      '<= 8',
    );
  return rows;
}

const column = <Key extends string>(rows: readonly Record<Key, number>[], key: Key): number[] =>
  rows.map((row) => row[key]);
