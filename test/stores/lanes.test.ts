import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { storeFailure } from '../../src/http/store-failure.ts';
import { type Shares, EMBEDDED_SHARES, Lanes, MAX_WAITING, SCANS } from '../../src/stores/clickhouse/lanes.ts';

const forever = (): AbortSignal => new AbortController().signal;
const GET = '-- GET anything\nSELECT 1';
const INGESTION = '-- ingestion: anything\nSELECT 1';
const never = (): Promise<never> => new Promise(() => {});

test('a look-up runs at once while scans and ingestion use all that they may', async () => {
  const lanes = new Lanes(EMBEDDED_SHARES);
  const run = vi.fn(never);
  for (let i = 0; i < 10; i += 1) {
    void lanes.run({ name: 'calibration', text: GET }, forever(), run);
    void lanes.run({ name: 'market_traded', text: INGESTION }, forever(), run);
  }
  await expect(lanes.run({ name: 'market_trades', text: GET }, forever(), async () => 'rows')).resolves.toBe('rows');
  expect(run).toHaveBeenCalledTimes(EMBEDDED_SHARES.scans + EMBEDDED_SHARES.background);
});

const ONE: Shares = { lookUps: 1, scans: 1, background: 1 };

test('reads of a lane run in the order in which they were asked for', async () => {
  const lanes = new Lanes(ONE);
  const order: number[] = [];
  const read = (i: number) => lanes.run({ name: 'market_trades', text: GET }, forever(), async () => order.push(i));
  await Promise.all([1, 2, 3, 4].map(read));
  expect(order).toEqual([1, 2, 3, 4]);
});

test('a read behind as many as may wait is refused at once, with 503 and the time to wait', async () => {
  const lanes = new Lanes(ONE);
  const read = () => lanes.run({ name: 'market_trades', text: GET }, forever(), never);
  for (let i = 0; i <= MAX_WAITING; i += 1) void read();
  const failure = await read().catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'StoreError', kind: 'busy' });
  expect(storeFailure(failure)).toMatchObject({ status: 503, retryAfter: 1, resolution: 'Retry in a second.' });
  await expect(lanes.run({ name: 'calibration', text: GET }, forever(), async () => 'rows')).resolves.toBe('rows');
});

test('a query that is no scan by its name is one where its parameters make it one', async () => {
  const lanes = new Lanes(ONE);
  void lanes.run({ name: 'whales_count', text: GET, isScan: true }, forever(), never);
  const waits = vi.fn(async () => 'rows');
  void lanes.run({ name: 'whales_count', text: GET, isScan: true }, forever(), waits);
  await expect(lanes.run({ name: 'whales_count', text: GET }, forever(), async () => 'rows')).resolves.toBe('rows');
  expect(waits).not.toHaveBeenCalled();
});

test('a read whose time is over leaves its place to the next one', async () => {
  const lanes = new Lanes(ONE);
  const gate = new AbortController();
  void lanes.run({ name: 'market_trades', text: GET }, forever(), () => once(gate.signal, 'abort'));
  const deadline = new AbortController();
  const late = vi.fn(async () => 'late');
  const waiting = lanes.run({ name: 'market_trades', text: GET }, deadline.signal, late);
  const next = lanes.run({ name: 'market_trades', text: GET }, forever(), async () => 'next');
  deadline.abort(new Error('the time is over'));
  await expect(waiting).rejects.toThrow('the time is over');
  gate.abort();
  await expect(next).resolves.toBe('next');
  expect(late).not.toHaveBeenCalled();
});

test('every scan is a query', () => {
  for (const name of SCANS)
    expect([name, existsSync(new URL(`../../sql/queries/${name}.sql`, import.meta.url))]).toEqual([name, true]);
});
