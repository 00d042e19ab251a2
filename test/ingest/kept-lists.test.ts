import { expect, test } from 'vitest';
import { z } from 'zod';
import { KeptLists } from '../../ingest/markets/kept-lists.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const Row = z.object({ ref: z.string() });

test('a list is read once a minute, and again after markets were stored, also while it is read', async () => {
  const clock = virtualClock();
  const asked: string[] = [];
  const query = async (name: string, _row: unknown, params: object): Promise<unknown[]> => {
    asked.push(`${name} ${JSON.stringify(params)}`);
    await clock.sleep(100);
    return [{ ref: String(asked.length) }];
  };
  const lists = new KeptLists({ query } as unknown as Pick<ClickHouse, 'query'>, clock);
  const read = (limit = 10) => clock.complete(lists.query('books_to_record', Row, { limit }), 1000);
  expect([await read(), await read(), await read(20)]).toEqual([[{ ref: '1' }], [{ ref: '1' }], [{ ref: '2' }]]);
  await clock.advance(60_000);
  expect([await read(), await read()]).toEqual([[{ ref: '3' }], [{ ref: '3' }]]);
  lists.forget();
  const reading = lists.query('books_to_record', Row, { limit: 10 });
  await clock.advance(50);
  lists.forget();
  await clock.advance(50);
  expect(await reading).toEqual([{ ref: '4' }]);
  expect([await read(), asked.length]).toEqual([[{ ref: '5' }], 5]);
});
