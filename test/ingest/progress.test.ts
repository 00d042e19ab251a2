import { pino } from 'pino';
import { expect, test } from 'vitest';
import { progressOf } from '../../ingest/progress.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

test('the backfills of two platforms each log their progress every five seconds, and their end', async () => {
  const clock = virtualClock();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const shown = ['kalshi', 'polymarket'].map((platform) => {
    const show = progressOf(log, clock);
    return (done: number) => show({ platform, done, rows: 1, rowsPerSecond: 1, secondsLeft: 1 });
  });
  for (const done of [0.1, 0.2, 0.3, 1]) {
    for (const show of shown) show(done);
    await clock.advance(2600);
  }
  const logged = lines.map((line) => JSON.parse(line) as { platform: string; done: string });
  for (const platform of ['kalshi', 'polymarket'])
    expect(logged.filter((line) => line.platform === platform).map(({ done }) => done)).toEqual([
      '10.0%',
      '30.0%',
      '100.0%',
    ]);
});
