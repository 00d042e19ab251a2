import { describe, expect, test } from 'vitest';
import type { Placement } from '../../../src/platforms/order-contract.ts';
import { POLYMARKET_CHECKS, POLYMARKET_REJECTIONS } from '../../../src/platforms/polymarket/orders/advice.ts';
import { EXCHANGES } from '../../../src/platforms/polymarket/orders/exchanges.ts';
import { FUNDS_HELP } from '../../../src/platforms/polymarket/orders/funds.ts';
import { docsTable, rejectionRows } from '../../helpers/docs-table.ts';
import { refuse } from '../../fixtures/canned-http.ts';
import {
  ADDRESS,
  CREDENTIAL,
  cannedOrders,
  intent,
  orderAccess,
  placedRow,
  terms,
  type Wanted,
} from '../../fixtures/polymarket/orders.ts';
import { hex } from '../../fixtures/polymarket/rows.ts';

const UPDATE = '/balance-allowance/update';
const FUNDS = '/balance-allowance';
const D9 = `0x${'0'.repeat(38)}d9`;
const EXCHANGE = EXCHANGES.standard.domain.verifyingContract;
const UNLIMITED = (2n ** 256n - 1n).toString();

const refused = (error: string, status = 400) => ({
  refuse: { kind: status === 401 ? 'unauthorized' : 'refused', status, body: { error }, detail: error },
});

/** The placement of an order to which POST /order answers this, and the calls that were made after the order was signed. */
async function placed(
  reply: unknown,
  { wanted = {}, answers = {}, credential = CREDENTIAL as object } = {} as {
    wanted?: Wanted;
    answers?: Record<string, unknown>;
    credential?: object;
  },
): Promise<{ placement: Placement; asked: string[] }> {
  const { adapter, http } = cannedOrders({ '/order': reply, ...answers });
  const prepared = await adapter.prepare(intent(terms(wanted)), orderAccess(credential as typeof CREDENTIAL));
  const before = http.asked.length;
  const placement = await prepared.place();
  return { placement, asked: http.asked.slice(before) };
}

const help = (placement: Placement): string =>
  placement.result === 'rejected' ? placement.refusal.resolution : placement.result;

const SHORT = 'not enough balance / allowance';
const money = (balance: string, allowances: Record<string, string> = { [EXCHANGE]: UNLIMITED }) => ({
  balance,
  allowances,
});

describe('a shortage of funds', () => {
  test.each([
    [
      'a contract that is not the exchange',
      `${SHORT}: the allowance is not enough -> spender: ${D9}, allowance: 0, sum of matched orders: 0, order amount (inc. fees): 5024990`,
      money('1000000000', { '0xe2222d279d744050d28e00520010520000310F59': UNLIMITED }),
      `approve ${D9} to spend the wallet's pUSD (5.02499 needed, 0 allowed)`,
    ],
    [
      'a contract with an allowance that matched orders use up',
      `${SHORT}: the allowance is not enough -> spender: ${D9}, allowance: 7000000, sum of matched orders: 4000000, order amount (inc. fees): 3500000`,
      money('1000000000'),
      `approve ${D9} to spend the wallet's pUSD (7.5 needed, 7 allowed)`,
    ],
    [
      'the exchange by its name',
      `${SHORT}: the allowance is not enough -> spender: ${EXCHANGE}, allowance: 0, order amount: 3500000`,
      money('9', { [EXCHANGE.toLowerCase()]: '2000000' }),
      "(3.5 needed, 2 allowed). The spender is Polymarket's CTF Exchange.",
    ],
    [
      'an approval that Polymarket had not read',
      `${SHORT}: the allowance is not enough -> spender: ${EXCHANGE}, allowance: 0, order amount: 3500000`,
      money('9000000'),
      'Place the order again, under a new idempotency key',
    ],
    [
      'money that is not there',
      `${SHORT}: the balance is not enough -> balance: 0, order amount: 3500000`,
      money('0'),
      'it holds 0 pUSD, and 3.5 are needed',
    ],
    [
      'money that Polymarket had not read',
      `${SHORT}: the balance is not enough -> balance: 0, order amount: 3500000`,
      money('25000000'),
      'now reads 25 pUSD',
    ],
    [
      'money that open orders reserve',
      `${SHORT}: the balance is not enough -> balance: 10000000, sum of active orders: 9000000, sum of matched orders: 500000, order amount: 1500000`,
      money('10000000'),
      'it holds 10 pUSD, and 11 are needed, open orders included',
    ],
    ['money in a text without amounts', SHORT, money('1000000'), 'it holds 1 pUSD, and 4.5 are needed'],
    ['money in such a text, where it would be enough', SHORT, money('90000000'), 'open orders reserve a part'],
    ['an approval in such a text', SHORT, money('90000000', { [EXCHANGE]: '0' }), `approve ${EXCHANGE} to spend`],
    [
      'something, where the platform does not answer',
      `${SHORT}: the balance is not enough -> balance: 2000000, order amount: 3500000`,
      refuse('unavailable', 503),
      'it holds 2 pUSD, and 3.5 are needed',
    ],
  ])('of %s is explained by the platform’s own text', async (_, error, funds, words) => {
    const answers = { [UPDATE]: {}, [FUNDS]: funds };
    const { placement, asked } = await placed(refused(error), { answers });
    expect(placement).toMatchObject({ result: 'rejected', refusal: { status: 422, errorText: error } });
    expect(help(placement)).toContain(words);
    const query = '?asset_type=COLLATERAL&signature_type=0';
    expect(asked).toEqual(['/order', `${UPDATE}${query}`, `${FUNDS}${query}`]);
  });

  test('of shares names the approval of the contract that holds them', async () => {
    const error = `${SHORT}: the allowance is not enough -> spender: ${EXCHANGE}, allowance: 0, order amount: 10000000`;
    const answers = { [UPDATE]: {}, [FUNDS]: money('10000000', { [EXCHANGE]: '0' }) };
    const { placement } = await placed(refused(error), { answers, wanted: { side: 'sell' } });
    expect(help(placement)).toContain(`with setApprovalForAll of ${EXCHANGES.standard.shares} (10 needed, 0 allowed)`);
  });
});

describe('a refusal is explained by its kind, then by the facts in its text', () => {
  test.each([
    [`order ${hex(1)} is invalid. Price (0.455) breaks minimum tick size rule: 0.01`, 'a multiple of 0.01.'],
    [`order ${hex(1)} is invalid. Price (0.4555) breaks minimum tick size rule: 0.001`, 'a multiple of 0.001.'],
    [`order ${hex(1)} is invalid. Size (1) lower than the minimum: 15`, 'a size of 15 or more'],
    ['invalid amount for a marketable BUY order ($0.41), min size: $1', 'spends at least 1 pUSD'],
    ['invalid post-only order: order crosses book', 'would trade at once'],
    [`order ${hex(1)} crosses the book`, 'would trade at once'],
    ['the order signer address has to be the address of the API KEY', 'An older Safe needs signature_type 2'],
    ['order_version_mismatch', 'Place the order again'],
    ['invalid order version, please use the latest clob-client', 'Place the order again'],
    ['invalid expiration', '130 seconds'],
    ['the order owner has to be the owner of the API KEY', 'must belong together'],
    [`'${ADDRESS}' address in closed only mode`, 'contact Polymarket'],
  ])('400 "%s"', async (error, words) => {
    const { placement } = await placed(refused(error));
    expect(placement).toMatchObject({ result: 'rejected', refusal: { status: 422, errorText: error } });
    expect(help(placement)).toContain(words);
    expect(help(placement)).not.toMatch(/report/i);
  });

  test('401 is of the API key, whatever else its text names', async () => {
    for (const error of ['Unauthorized/Invalid api key', 'denied: size or price', '']) {
      const { placement } = await placed(refused(error, 401));
      expect(help(placement)).toContain('Renew the API key');
    }
  });

  test.each([
    ['failed to save: row not found', 404, 'unknown'],
    ['could not read the market, row not found', 404, 'unknown'],
    ['rpc error: unauthorized', 401, 'unknown'],
    ['No orderbook exists for the requested token id', 404, 'rejected'],
    ['market not found', 404, 'rejected'],
    ['Unauthorized/Invalid api key', 401, 'rejected'],
  ])('"%s" with %i leaves the order %s', async (error, status, result) => {
    const { placement } = await placed(refused(error, status));
    expect(placement).toMatchObject({ result, httpStatus: status, detail: error });
  });

  test('401 of a key that was derived is answered by deriving another one for the next order', async () => {
    const { api_key: _, api_secret: __, api_passphrase: ___, ...wallet } = CREDENTIAL;
    const issued = { apiKey: 'derived', secret: CREDENTIAL.api_secret, passphrase: 'x' };
    const answers = { '/auth/derive-api-key': issued };
    const { placement, asked } = await placed(refused('Unauthorized/Invalid api key', 401), {
      answers,
      credential: wallet,
    });
    expect(placement).toMatchObject({ result: 'rejected', httpStatus: 401, refusal: { status: 503, retryAfter: 1 } });
    expect(asked).toEqual(['/order']);
  });

  test('a derived key that ended before the first order is replaced, and the order is signed for the new one', async () => {
    const { api_key: _, api_secret: __, api_passphrase: ___, ...wallet } = CREDENTIAL;
    let derived = 0;
    let reads = 0;
    const { adapter, http } = cannedOrders({
      '/auth/derive-api-key': () => ({
        apiKey: `key-${(derived += 1)}`,
        secret: CREDENTIAL.api_secret,
        passphrase: 'x',
      }),
      [UPDATE]: () => ((reads += 1) === 1 ? refused('Unauthorized/Invalid api key', 401) : {}),
      '/order': placedRow(),
    });
    await (await adapter.prepare(intent(terms()), orderAccess(wallet))).place();
    const sent = http.requests.filter(({ method }) => method === 'POST');
    expect(sent.map(({ body }) => (JSON.parse(body ?? '{}') as { owner: string }).owner)).toEqual(['key-2']);
  });

  test('a wallet that gets no API key is told what to do, unless it is the operator’s', async () => {
    const { api_key: _, api_secret: __, api_passphrase: ___, ...wallet } = CREDENTIAL;
    const { adapter } = cannedOrders({
      '/auth/derive-api-key': refused('Could not derive api key!'),
      '/auth/api-key': refused('Could not create api key'),
    });
    const access = orderAccess(wallet);
    await expect(adapter.prepare(intent(terms()), access)).rejects.toMatchObject({
      status: 422,
      resolution: expect.stringContaining('Log in to Polymarket once with this wallet'),
      errorText: 'Could not derive api key!',
    });
    const operators = adapter.prepare(intent(terms()), { ...access, guest: 'somebody' });
    await expect(operators).rejects.toMatchObject({ name: 'PlatformError', kind: 'unauthorized' });
    await expect(adapter.list({ market: null, sinceMs: 0 }, access)).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  test('a gateway’s page and an answer without an order id leave the order unknown, with the reason', async () => {
    const page = { refuse: { kind: 'geo_blocked', status: 403, detail: 'Attention Required! | Cloudflare' } };
    expect((await placed(page)).placement).toMatchObject({
      result: 'unknown',
      httpStatus: 403,
      detail: expect.stringContaining('Attention Required! | Cloudflare'),
    });
    const bare = placedRow({ orderID: '' });
    expect((await placed(bare)).placement).toMatchObject({
      result: 'unknown',
      detail: expect.stringContaining('order id'),
    });
  });
});

describe('the guide lists every refusal of an order for Polymarket', () => {
  test('before it is sent', async () => {
    expect(await docsTable('Polymarket', 'Refused before it is sent')).toEqual(
      Object.values(POLYMARKET_CHECKS).map(({ message, resolution }) => [message, `${resolution}.`]),
    );
  });

  test('of a shortage of funds', async () => {
    expect(await docsTable('Polymarket', 'Not enough balance or allowance')).toEqual(
      Object.values(FUNDS_HELP).map(({ says, help: text }) => [says, text]),
    );
  });

  test('and for other reasons', async () => {
    expect(await docsTable('Polymarket', 'Rejected by Polymarket')).toEqual(rejectionRows(POLYMARKET_REJECTIONS));
  });
});
