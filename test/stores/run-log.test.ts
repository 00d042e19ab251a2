import { expect, test } from 'vitest';
import { RunLog, type RunRow } from '../../src/stores/clickhouse/run-log.ts';
import { silent } from '../helpers/silent-log.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const RUN: RunRow = {
  platform: 'kalshi',
  job: 'trades',
  started_at: '',
  finished_at: '',
  ok: true,
  fresh_to: '',
  rows: 0,
  bad_rows: 0,
  bad_fields: 0,
  note: '',
  worker: '',
};

test('runs are recorded every ten seconds, but a first one and another outcome at once', async () => {
  const clock = virtualClock();
  const inserts: number[] = [];
  const insert = async (_: string, rows: readonly object[] | Buffer): Promise<void> => void inserts.push(rows.length);
  const runs = new RunLog({ clickhouse: { insert }, log: silent, clock });
  const run = (given: Partial<RunRow> = {}) => runs.add({ ...RUN, ...given });
  await run();
  await run({ job: 'markets' });
  expect(inserts).toEqual([1, 1]);
  for (let n = 0; n < 5; n += 1) await run({ note: `${n} markets seen` });
  await clock.advance(9999);
  expect(inserts).toEqual([1, 1]);
  await clock.advance(1);
  expect(inserts).toEqual([1, 1, 5]);
  await run();
  await run({ ok: false, note: 'away' });
  expect(inserts).toEqual([1, 1, 5, 2]);
  await run();
  await run();
  await runs.flush();
  expect(inserts).toEqual([1, 1, 5, 2, 1, 1]);
});
