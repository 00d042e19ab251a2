import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { z } from 'zod';
import { expect, test } from 'vitest';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { answerStored, wantedFormat } from '../../src/http/cached-answer.ts';
import { silent } from '../helpers/silent-log.ts';

test.each([
  [undefined, 'json'],
  ['*/*', 'json'],
  ['text/html', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV; header=present', 'csv'],
  ['application/x-ndjson, */*;q=0.1', 'ndjson'],
  ['*/*, text/csv', 'csv'],
  ['application/json, text/csv;q=0.1', 'json'],
  ['application/json;q=0.5, text/csv ; q=0.9', 'csv'],
  ['application/x-ndjson, text/csv', 'ndjson'],
  ['text/csv;q=0, application/json;q=0.1', 'json'],
  ['text/csv;q=lots', 'json'],
  ['constructor, application/x-ndjson;q=0', 'json'],
  ['constructor, toString, text/csv;q=0.5', 'csv'],
  ['__proto__, hasOwnProperty, x-csv', 'json'],
])('Accept: %s is answered as %s', (accept, format) => {
  expect(wantedFormat(accept)).toBe(format);
});

test('what was stored while an answer was being read is not claimed to be in it', async () => {
  const shared = createLocalShared(silent);
  const app = Fastify();
  const stored: number[] = [];
  const mark = async (): Promise<string> => {
    await sleep(20);
    stored.push(1);
    return String(stored.length);
  };
  app.get('/', (request, reply) =>
    answerStored(
      {
        shared,
        freshness: { listings: mark, trades: mark },
        clickhouse: { stream: () => Promise.reject(new Error()) },
      },
      { request, reply, answer: z.object({ rows: z.array(z.number()), meta: z.object({}) }) },
      { key: 'k', ttlMs: 1000, from: 'trades', platforms: ['kalshi'] },
      async () => ({ body: { rows: [...stored] }, meta: {}, rows: 'rows' }),
    ),
  );
  const answer = (await app.inject('/')).json<{ rows: number[]; meta: { data_freshness: string } }>();
  expect(answer.rows).toHaveLength(Number(answer.meta.data_freshness));
  await app.close();
  await shared.close();
});
