import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockBehind } from '../helpers/flowing-clock.ts';
import { eventually, type Pipeline, startPipeline } from '../oracle/pipeline.ts';
import { startLimitless } from '../simulators/limitless.ts';

const clock = clockBehind();
let sim: Awaited<ReturnType<typeof startLimitless>>;
let service: Pipeline;

beforeAll(async () => {
  sim = await startLimitless({ seed: 5, clock, markets: 12, tradesPerMarket: 5 });
  service = await startPipeline([sim], ['limitless'], { clock, everySeconds: 600 });
});
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

const missing = async (): Promise<string[]> => {
  const [row] = await service.clickhouse.sql('SELECT count() AS trades FROM trades');
  return Number(row?.['trades']) > 0 ? [] : ['trades'];
};

test('trades are read as soon as the first listing is stored, not at the next poll', async () => {
  expect(await eventually(missing, 60, clock)).toEqual([]);
});
