import { expect, test } from 'vitest';
import { ONE_PRICE, parsePrice, parseUsd } from '../../../src/core/decimal.ts';
import type { KalshiFinder } from '../../../src/platforms/kalshi/orders/finder.ts';
import { placeOrder } from '../../../src/platforms/kalshi/orders/placing.ts';
import { mapPlaced } from '../../../src/platforms/kalshi/orders/rows.ts';
import { Shards } from '../../../src/platforms/kalshi/orders/shards.ts';
import { toKalshiOrder } from '../../../src/platforms/kalshi/orders/request.ts';
import type { KalshiAccount } from '../../../src/platforms/kalshi/signed-client.ts';
import type { OrderAccess, OrderIntent, PlatformOrder } from '../../../src/platforms/order-contract.ts';
import { readContext } from '../../fixtures/canned-http.ts';
import { orderTerms } from '../../fixtures/order-terms.ts';

const SENT_AT = '2026-11-02T03:04:05.000Z';
const terms = orderTerms({ side: 'sell', timeInForce: 'ioc', price: '0.01' });
const intent = {
  market: { platform: 'kalshi', ref: 'KXHERON-1', platformId: 'KXHERON-1', outcomes: [{ id: 'yes' }, { id: 'no' }] },
  terms,
  clientOrderId: 'c-1',
} as unknown as OrderIntent;

/** Ten sold at 0.60 and more, as the reply says; a read of the order shows `seen`. */
async function placed(seen: Partial<PlatformOrder>) {
  const json = {
    order_id: 'o-1',
    client_order_id: 'c-1',
    fill_count: '10.00',
    remaining_count: '0.00',
    average_fill_price: '0.6000',
    ts_ms: Date.parse(SENT_AT),
  };
  const reply = { status: 201, headers: {}, text: '', json, receivedAt: SENT_AT };
  const member = { send: async () => reply } as unknown as KalshiAccount;
  const access = { ...readContext(), credential: {}, markets: {} } as unknown as OrderAccess<'kalshi'>;
  const read = async () => ({ ...mapPlaced(intent, json as never, SENT_AT), filledSize: 10_000_000n, ...seen });
  const finder = { read } as unknown as KalshiFinder;
  const { result, ...rest } = await placeOrder({ intent, wire: toKalshiOrder(intent, 0) }, member, access, {
    finder,
    shards: new Shards(),
  });
  if (result !== 'accepted' || !('order' in rest)) throw new Error(result);
  return rest.order;
}

test('an accepted order has the exact mean and the fees of its read', async () => {
  const seen = {
    averageFillPrice: parsePrice('0.600025'),
    takerFee: parseUsd('0.168'),
    receivedUsd: parseUsd('5.83225'),
  };
  expect(await placed(seen)).toMatchObject(seen);
});

test('an accepted order keeps the mean of its reply where a read took it for that of the other outcome', async () => {
  const takerFee = parseUsd('0.168');
  const other = ONE_PRICE - parsePrice('0.6');
  expect(await placed({ averageFillPrice: other, takerFee, receivedUsd: parseUsd('3.832') })).toMatchObject({
    averageFillPrice: parsePrice('0.6'),
    takerFee,
    receivedUsd: null,
  });
});
