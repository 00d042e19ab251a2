import type { Log } from '../src/core/log.ts';
import type { Clock } from '../src/core/time.ts';
import type { BackfillProgress } from './backfill.ts';

const EVERY_MS = 5000;

/** Shows the progress of one platform's backfill: rewritten in place on a terminal, every few seconds in a log. */
export function progressOf(log: Log, clock: Clock): (progress: BackfillProgress) => void {
  let shownAt = -Infinity;
  return (progress) => {
    const percent = `${(progress.done * 100).toFixed(1)}%`;
    const rate = Math.round(progress.rowsPerSecond);
    const secondsLeft = Math.ceil(progress.secondsLeft);
    if (process.stdout.isTTY) {
      const end = progress.done >= 1 ? '\n' : '';
      process.stdout.write(
        `\r\u001b[Kbackfill ${progress.platform} ${percent}, ${progress.rows} trades, ${rate}/s, ${secondsLeft} s left${end}`,
      );
      return;
    }
    if (clock.elapsed() - shownAt < EVERY_MS && progress.done < 1) return;
    shownAt = clock.elapsed();
    log.info(
      { platform: progress.platform, done: percent, rows: progress.rows, rowsPerSecond: rate, secondsLeft },
      'backfill',
    );
  };
}
