import { expect, test, vi } from 'vitest';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { ApiError } from '../../src/core/errors.ts';
import type { OrderContext } from '../../src/orders/context.ts';
import type { Draft } from '../../src/orders/placing/prepare.ts';
import { sendOrder } from '../../src/orders/placing/send.ts';
import type { Placement } from '../../src/platforms/order-contract.ts';

const CLAIMED_MS = Date.parse('2026-11-25T00:00:00Z');
const REFUSED = new ApiError(422, 'refused', { resolution: '' });

/** Sends an order `ageMs` after its claim; its platform refuses it. */
async function send(ageMs: number) {
  const place = vi.fn(async (): Promise<Placement> => ({
    result: 'rejected',
    httpStatus: 400,
    detail: '',
    refusal: REFUSED,
  }));
  const at = new Date(CLAIMED_MS);
  const store = { withdraw: vi.fn(async () => {}), record: vi.fn(async () => null) };
  const row = { id: 'o', platform: 'kalshi', side: 'buy', orderId: null, createdAt: at, askedAt: at };
  const client = { account: { userId: 'u', platform: 'kalshi', credentialId: 1 } };
  const clock = virtualClock(CLAIMED_MS + ageMs);
  const context = { store, clock, now: clock.now } as unknown as OrderContext;
  const draft = { client, row, requestId: 'r', prepared: { place } } as unknown as Draft;
  const error = await sendOrder(context, draft).catch((thrown: unknown) => thrown);
  return { error, sent: place.mock.calls.length, withdrawn: store.withdraw.mock.calls.length };
}

test('an order that could not be sent within 30 s of its claim is not sent, and its claim is withdrawn', async () => {
  const { error, sent, withdrawn } = await send(30_001);
  expect(error).toMatchObject({ status: 503, message: 'The order could not be sent in time', retryAfter: 1 });
  expect([sent, withdrawn]).toEqual([0, 1]);
});

test.each([0, 30_000, -5000])('one that is sent %d ms after its claim is sent once', async (ageMs) => {
  expect(await send(ageMs)).toEqual({ error: REFUSED, sent: 1, withdrawn: 0 });
});
