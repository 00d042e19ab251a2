import { pino } from 'pino';
import { expect, test } from 'vitest';
import { BookWriter } from '../../src/books/writer.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

test('a flush during another one ends when the rows added before it are stored', async () => {
  const stored: object[] = [];
  const answers: (() => void)[] = [];
  const clickhouse = {
    insert: (_table: unknown, rows: object[]) =>
      new Promise<void>((resolve) => {
        answers.push(() => {
          stored.push(...rows);
          resolve();
        });
      }),
  } as unknown as ClickHouse;
  const writer = new BookWriter({
    clickhouse,
    log: pino({ level: 'silent' }),
    lease: { remainingMs: () => 60_000 } as never,
    clock: virtualClock(),
    onOverflow: () => expect.unreachable(),
  });
  writer.add('changes', { sequence: 1 });
  const first = writer.flush();
  writer.add('changes', { sequence: 2 });
  const second = writer.flush().then(() => [...stored]);
  answers.shift()?.();
  await first;
  expect(stored).toEqual([{ sequence: 1 }]);
  await expect.poll(() => answers.length).toBe(1);
  answers.shift()?.();
  expect(await second).toEqual([{ sequence: 1 }, { sequence: 2 }]);
  await writer.close();
});
