import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { type StoreLater, storeBehind } from '../../ingest/store-behind.ts';

/** A step that ends when `open` is called, at once if it was called before. */
function gated() {
  const gate = new AbortController();
  const opened = once(gate.signal, 'abort').then(() => {});
  return { open: () => gate.abort(), step: vi.fn(() => opened) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('items are read while those before are stored, up to a bound, and all are stored at the end', async () => {
  const { open, step } = gated();
  let read = 0;
  const ended = storeBehind(async (store) => {
    for (; read < 20; read += 1) await store(step);
  });
  await turn();
  expect([read, step.mock.calls.length]).toEqual([16, 16]);
  open();
  await ended;
  expect([read, step.mock.calls.length]).toEqual([20, 20]);
});

test.each([
  ['a step that fails ends the reading', (store: StoreLater) => store(() => Promise.reject(new Error('odd')))],
  ['a reading that fails ends', () => Promise.reject(new Error('odd'))],
])('%s, and everything begun is over by then', async (_, fail) => {
  const { open, step } = gated();
  let isOver = false;
  const ended = storeBehind(async (store) => {
    await store(step);
    await fail(store);
    await turn();
    await store(step);
  }).finally(() => (isOver = true));
  const failed = expect(ended).rejects.toThrow('odd');
  await turn();
  await turn();
  expect([step.mock.calls.length, isOver]).toEqual([1, false]);
  open();
  await failed;
});
