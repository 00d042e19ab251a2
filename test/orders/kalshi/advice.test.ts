import { describe, expect, test } from 'vitest';
import { KALSHI_CHECKS, KALSHI_REJECTIONS } from '../../../src/platforms/kalshi/orders/advice.ts';
import { answerError } from '../../../src/platforms/http/errors.ts';
import { adviceOf } from '../../../src/platforms/refusal-rules.ts';
import { docsTable, rejectionRows } from '../../helpers/docs-table.ts';

const advice = (status: number, code: string, message: string, details?: string): string => {
  const body = { error: { code, message, details } };
  const answer = { status, headers: {}, text: JSON.stringify(body) };
  return adviceOf(KALSHI_REJECTIONS, answerError('kalshi', answer, body, { nowMs: Date.now() }));
};

describe('advice on a rejection by Kalshi', () => {
  test.each([
    [
      400,
      'available_balance_too_low',
      'available balance too low',
      undefined,
      "only the cash of the market's shard pays",
    ],
    [400, 'insufficient_balance', 'insufficient balance', undefined, "only the cash of the market's shard pays"],
    [400, 'invalid_order', 'invalid order', 'post only cross', 'leave out post_only'],
    [
      400,
      'invalid_order',
      'invalid order',
      'reduce_only can only be used with IoC orders',
      'This order would not reduce a position',
    ],
    [400, 'invalid_order', 'invalid order', 'self trade', 'cancel_maker'],
    [400, 'invalid_order', 'invalid order', 'order would self-cross', 'cancel_maker'],
    [400, 'fill_or_kill_insufficient_resting_volume', 'fill or kill', undefined, 'use ioc'],
    [409, 'immediate_or_cancel_insufficient_resting_volume', 'no volume', undefined, 'another price, or gtc'],
    [400, 'invalid_parameters', 'invalid parameters', 'exchange_index', 'another exchange shard'],
    [400, 'MARKET_INACTIVE', 'market is not active', undefined, 'choose a market that is open'],
    [400, 'market_closed', 'market closed', undefined, 'choose a market that is open'],
    [404, 'not_found', 'not found', undefined, 'GET the market'],
    [400, 'invalid_order', 'invalid order', 'position limit exceeded', "Kalshi's limit"],
    [400, 'invalid_parameters', 'invalid parameters', 'expiration_time', 'later expiration'],
    [400, 'invalid_order_size', 'invalid order size', undefined, 'at least 0.01'],
    [400, 'invalid_order', 'invalid order', 'invalid price', "market's grid"],
    [400, 'invalid_order', 'invalid order', 'a text to come', 'Correct the order'],
  ])('%i %s: %s (%s)', (status, code, message, details, wanted) => {
    expect(advice(status, code, message, details)).toContain(wanted);
  });

  test.each([
    [401, 'unauthorized', 'unauthorized', undefined, 'Check the stored key'],
    [401, 'unauthorized', 'unauthorized', 'unknown key', 'the clock of the server'],
    [401, 'INCORRECT_API_KEY_SIGNATURE', 'incorrect signature', undefined, 'the private key must belong to it'],
    [401, 'unauthorized', 'unauthorized', 'timestamp out of range', 'the clock of the server'],
    [401, 'header_timestamp_expired', 'expired', undefined, 'the clock of the server'],
    [403, 'forbidden', 'forbidden', 'key lacks scope write', 'write::trade'],
    [403, 'unauthorized', 'location attestation required', undefined, 'Confirm your location'],
    [403, 'forbidden', 'location attestation of the API key has expired', undefined, 'Confirm your location'],
    [403, 'unauthorized', 'key is locked to a subaccount', undefined, 'subaccount'],
    // The words of an order's rejection mean something else about a key.
    [401, 'unauthorized', 'invalid price of the account balance', undefined, 'Check the stored key'],
  ])('about the key, whatever else it says: %i %s: %s (%s)', (status, code, message, details, wanted) => {
    expect(advice(status, code, message, details)).toContain(wanted);
    expect(advice(status, code, message, details)).not.toContain('price');
  });
});

test('the guide lists every refusal of an order for Kalshi', async () => {
  expect(await docsTable('Kalshi', 'Refused before it is sent')).toEqual(
    Object.values(KALSHI_CHECKS).map(({ message, resolution }) => [message, `${resolution}.`]),
  );
  expect(await docsTable('Kalshi', 'Rejected by Kalshi')).toEqual(rejectionRows(KALSHI_REJECTIONS));
});
