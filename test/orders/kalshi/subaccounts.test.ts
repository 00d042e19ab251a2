import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { KalshiFields } from '../../../src/platforms/kalshi/credential.ts';
import { createKalshiOrders } from '../../../src/platforms/kalshi/orders/adapter.ts';
import type { OrderAccess } from '../../../src/platforms/order-contract.ts';
import { cannedHttp, readContext, refuse, SETTINGS } from '../../fixtures/canned-http.ts';

const WRITES = '/portfolio/events/orders';
const row = (change: object) => ({
  order_id: 'o-1',
  client_order_id: '',
  ticker: 'KXOTTERCUP-1',
  outcome_side: 'yes',
  type: 'limit',
  status: 'resting',
  yes_price_dollars: '0.3900',
  no_price_dollars: '0.6100',
  initial_count_fp: '10.00',
  fill_count_fp: '0.00',
  remaining_count_fp: '10.00',
  taker_fill_cost_dollars: '0.000000',
  maker_fill_cost_dollars: '0.000000',
  taker_fees_dollars: '0.000000',
  maker_fees_dollars: '0.000000',
  created_time: '2026-11-02T03:00:01.25Z',
  ...change,
});

const { privateKey } = generateKeyPairSync('ed25519');
const credential = KalshiFields.parse({
  api_key_id: 'key-1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
});

const access = { ...readContext(), credential, markets: {} } as unknown as OrderAccess<'kalshi'>;
const notFound = refuse('not_found', 404, { error: { code: 'not_found' } });
const TICKER = 'market_ticker=KXOTTERCUP-1';

/** Lists an order of subaccount 3, and cancels it; `answer`: of a cancel that names this subaccount, or none. */
async function cancelled(answer: (subaccount: string | null) => unknown): Promise<unknown[]> {
  const http = cannedHttp((path, query) => {
    if (path === '/portfolio/orders') return { orders: [row({ subaccount_number: 3 })], cursor: '' };
    return answer(query.get('subaccount'));
  });
  const adapter = createKalshiOrders({ http, settings: SETTINGS, now: Date.now });
  const { orders } = await adapter.list({ market: null, sinceMs: 0 }, access);
  const [first] = await adapter.cancel(orders, access);
  const asked = http.asked.filter((one) => one.startsWith(WRITES)).map((one) => one.split('?')[1]);
  return [first?.result, asked];
}
const DONE = { order_id: 'o-1', reduced_by: '10.00' };

test('an order of a subaccount is listed with its number, and cancelled there', async () => {
  const done = await cancelled((subaccount) => (subaccount === '3' ? DONE : notFound));
  expect(done).toEqual(['cancelled', [TICKER, `${TICKER}&subaccount=3`]]);
});

test('a key that is locked to the subaccount cancels without its number', async () => {
  const forbidden = refuse('unauthorized', 403, { error: { code: 'forbidden' } });
  expect(await cancelled((subaccount) => (subaccount === null ? DONE : forbidden))).toEqual(['cancelled', [TICKER]]);
  // Of an order that is gone, its answer without the number counts.
  const gone = await cancelled((subaccount) => (subaccount === null ? notFound : forbidden));
  expect(gone).toEqual(['not_open', [TICKER, `${TICKER}&subaccount=3`]]);
});
