import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { StoreBehind } from '../../ingest/store-behind.ts';

/** A step that ends when `open` is called, at once if it was called before. */
function gated() {
  const gate = new AbortController();
  const opened = once(gate.signal, 'abort').then(() => {});
  return { open: () => gate.abort(), step: vi.fn(() => opened) };
}

test('items are read while those before are stored, up to a bound', async () => {
  const storing = new StoreBehind();
  const { open, step } = gated();
  for (let i = 0; i < 8; i += 1) await storing.add(step);
  expect(step).toHaveBeenCalledTimes(8);
  let isRead = false;
  const ninth = storing.add(step).then(() => (isRead = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isRead).toBe(false);
  open();
  await ninth;
  const last = vi.fn(async () => {});
  await storing.add(last);
  await storing.end();
  expect(last).toHaveBeenCalledOnce();
});

test('a step that fails ends the reading, and everything begun is over by then', async () => {
  const storing = new StoreBehind();
  const { open, step: slow } = gated();
  await storing.add(slow);
  await storing.add(async () => {
    throw new Error('the lease is about to end');
  });
  await new Promise((resolve) => setImmediate(resolve));
  await expect(storing.add(slow)).rejects.toThrow('the lease is about to end');
  expect(slow).toHaveBeenCalledTimes(1);
  let isOver = false;
  const settled = storing.settled().then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  open();
  await settled;
  await expect(storing.end()).rejects.toThrow('the lease is about to end');
});
