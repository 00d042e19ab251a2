import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { activityChannel } from '../../../src/platforms/polymarket/stream/activity.ts';
import { BadFrame } from '../../../src/platforms/sockets/contract.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const row = (type: string): string =>
  JSON.stringify({
    topic: 'activity',
    type,
    payload: { asset: '1', conditionId: `0x${'86'.repeat(32)}`, transactionHash: '0x1' },
  });

test('of rows and matched orders, which every trade brings, neither stops while the other goes on', () => {
  const session = activityChannel('ws://127.0.0.1/').session([], () => {}, systemClock);
  session.start();
  const after = (seconds: number, ...types: string[]) => {
    vi.advanceTimersByTime(seconds * 1000);
    for (const type of types) session.take(row(type), () => {});
    return session.failure?.();
  };
  expect(after(10, 'orders_matched', 'trades')).toBeNull();
  // Silence of both is the channel's to notice.
  expect(after(60)).toBeNull();
  expect(after(0, 'orders_matched', 'trades')).toBeNull();
  expect(after(10, 'orders_matched')).toBeNull();
  expect(after(10, 'orders_matched')).toBe('no trades');
});

test('a row without the fields that identify a trade shows that its market had one', () => {
  const session = activityChannel('ws://127.0.0.1/').session([], () => {}, systemClock);
  const conditionId = `0x${'86'.repeat(32)}`;
  const events: unknown[] = [];
  const frame = { topic: 'activity', type: 'orders_matched', payload: { conditionId, price: 0.49, size: 50 } };
  expect(session.take(JSON.stringify(frame), (event) => events.push(event))).toBe(true);
  expect(events).toEqual([{ kind: 'trade', ref: conditionId }]);
  const unnamed = { ...frame, payload: { asset: '1', transactionHash: '0x1' } };
  expect(() => session.take(JSON.stringify(unnamed), () => {})).toThrow(BadFrame);
});

test('a connection whose subscription is refused is replaced at once, and says so', () => {
  const session = activityChannel('ws://127.0.0.1/').session([], () => {}, systemClock);
  session.start();
  const refusal = { body: { message: 'leger GetTopics error: topic activity not found' }, statusCode: 401 };
  expect(() => session.take(JSON.stringify(refusal), () => {})).toThrow(BadFrame);
  expect(session.failure?.()).toBe('the subscription was refused with 401');
});
