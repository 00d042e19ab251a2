import { createHmac } from 'node:crypto';
import { OrderSigner } from '@limitless-exchange/sdk';
import { recoverTypedDataAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { tokenHeaders } from '../../../src/platforms/limitless/signed-client.ts';
import type { LimitlessNewOrder } from '../../../src/platforms/limitless/orders/request.ts';
import { signOrder, typedOrder } from '../../../src/platforms/limitless/sign.ts';
import { PlacementGroup } from '../../../src/orders/placing/placement-group.ts';
import type { OrderAccess } from '../../../src/platforms/order-contract.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';
import { refuse } from '../../fixtures/canned-http.ts';
import {
  ADDRESS,
  CREDENTIAL,
  EXCHANGE,
  KEY,
  MARKET,
  NOW,
  SLUG,
  cannedOrders,
  intent,
  orderAccess,
  profileRow,
  stateRow,
  terms,
  venueRow,
  type Wanted,
} from '../../fixtures/limitless/orders.ts';
import { NO_TOKEN, YES_TOKEN } from '../../fixtures/limitless/rows.ts';
import { sdkWallet } from '../../simulators/limitless/trading-rig.ts';

const ZERO = '0x0000000000000000000000000000000000000000';
const SEED = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
/** 0x01020304050607, the first 52 bits of 01 02 … 07 08. */
const SALT = 0x0102030405060;

describe('signing for Limitless', () => {
  /** An order of 2026-05-04 as the exchange showed it to the public, with its signature. */
  const recorded = {
    salt: 277966495716,
    maker: '0xAb2B9833FC8B8f55F4De7C4A0FAb8577EF0F7b36',
    signer: '0x82a0f074C6C0C11aA370D7FBF077668c31fCc990',
    taker: ZERO,
    tokenId: '46235703925185836960484608024734446969378108670784413458211837874003718039438',
    makerAmount: 9999360,
    takerAmount: 10752000,
    expiration: '0',
    nonce: 0,
    feeRateBps: 300,
    side: 0,
    signatureType: 2,
  } as const;
  const signature =
    '0x1640c8558d8c627017b2c6ac71a79770d177033afeb9be72842803afcd12938f23308c507935011ad6d10acc299e5367f76b4f806eb025c15cb05739de11260d1b';

  test('a signature the exchange accepted recovers to its signer, and under no other contract', async () => {
    const signer = (exchange: `0x${string}`) =>
      recoverTypedDataAddress({ ...typedOrder(recorded, exchange), signature });
    expect(await signer(EXCHANGE)).toBe(recorded.signer);
    expect(await signer('0xe3E00BA3a9888d1DE4834269f62ac008b4BB5C47')).not.toBe(recorded.signer);
  });

  test('is byte for byte what the official client signs', async () => {
    const order = { ...recorded, maker: ADDRESS, signer: ADDRESS, signatureType: 0 } as const;
    const official = await new OrderSigner(sdkWallet(KEY)).signOrder(order, {
      chainId: 8453,
      contractAddress: EXCHANGE,
    });
    expect(await signOrder(KEY, order, EXCHANGE)).toBe(official);
  });

  test('a call carries an HMAC over time, method, path with query and the exact body', () => {
    const call = { method: 'POST', target: '/orders?a=1', body: '{"x":"ü"}' };
    const key = Buffer.from(CREDENTIAL.secret, 'base64');
    const message = `2026-11-21T09:02:00.000Z\nPOST\n/orders?a=1\n{"x":"ü"}`;
    expect(tokenHeaders(CREDENTIAL, call, NOW)).toEqual({
      'lmts-api-key': 'token-1',
      'lmts-timestamp': '2026-11-21T09:02:00.000Z',
      'lmts-signature': createHmac('sha256', key).update(message, 'utf8').digest('base64'),
    });
  });
});

/** What left for POST /orders, and the headers it left with. */
async function sent(wanted: Wanted, setup: { answers?: object; access?: OrderAccess<'limitless'> } = {}) {
  const { adapter, http, access } = cannedOrders({ '/orders': stateRow(), ...setup.answers });
  const order = intent(terms(wanted), { seed: SEED, clientOrderId: 'mine-1' });
  adapter.check(MARKET, order.terms);
  const prepared = await adapter.prepare(order, setup.access ?? access);
  expect(http.asked).not.toContain('/orders');
  const placement = await prepared.place();
  const request = http.requests.find(({ url }) => url.endsWith('/orders'));
  const { headers } = request ?? {};
  return {
    prepared,
    placement,
    request,
    headers: typeof headers === 'function' ? headers() : {},
    body: JSON.parse(request?.body ?? '{}') as LimitlessNewOrder & { order: { signature: `0x${string}` } },
  };
}

const metadataOf = async (wanted: Wanted) => (await sent(wanted)).prepared.metadata;

describe('an order of the caller on the wire', () => {
  const walk = { size: '10', cost: '5.432101' };
  type Line = [
    side: 'buy' | 'sell',
    outcome: 0 | 1,
    type: 'limit' | 'market',
    timeInForce: 'gtc' | 'ioc',
    orderType: string,
    makerAmount: number,
    takerAmount: number,
    price: number,
  ];
  const lines: Line[] = ([0, 1] as const).flatMap((outcome): Line[] => [
    ['buy', outcome, 'limit', 'gtc', 'GTC', 5_600_000, 10_000_000, 0.56],
    ['buy', outcome, 'limit', 'ioc', 'FAK', 5_600_000, 10_000_000, 0.56],
    ['buy', outcome, 'market', 'ioc', 'FAK', 5_600_000, 10_000_000, 0.56],
    ['sell', outcome, 'limit', 'gtc', 'GTC', 10_000_000, 5_600_000, 0.56],
    ['sell', outcome, 'limit', 'ioc', 'FAK', 10_000_000, 5_600_000, 0.56],
    ['sell', outcome, 'market', 'ioc', 'FAK', 10_000_000, 5_600_000, 0.56],
  ]);

  test.each(lines)(
    '%s outcome %i %s %s',
    async (side, outcome, type, tif, orderType, makerAmount, takerAmount, price) => {
      const wanted = { side, outcomeIndex: outcome, type, timeInForce: tif, ...(type === 'market' ? { walk } : {}) };
      const { body, prepared } = await sent(wanted);
      const { signature, ...order } = body.order;
      expect({ ...body, order }).toEqual({
        order: {
          salt: SALT,
          maker: ADDRESS,
          signer: ADDRESS,
          taker: ZERO,
          tokenId: outcome === 0 ? YES_TOKEN : NO_TOKEN,
          makerAmount,
          takerAmount,
          expiration: '0',
          nonce: 0,
          feeRateBps: 300,
          side: side === 'buy' ? 0 : 1,
          signatureType: 0,
          price,
        },
        orderType,
        marketSlug: SLUG,
        ownerId: 1338965,
        ...(orderType === 'GTC' ? { postOnly: false } : {}),
        clientOrderId: 'mine-1',
        timestamp: NOW,
        recvWindow: 5000,
      });
      expect(await recoverTypedDataAddress({ ...typedOrder(order, EXCHANGE), signature })).toBe(ADDRESS);
      expect(prepared.wire).toEqual({ ...body, order });
      expect(prepared.orderId).toBeNull();
    },
  );

  test('is signed with the JSON types the platform insists on, in bytes that its HMAC covers', async () => {
    const { request, headers } = await sent({ price: '0.001', size: '0.001' });
    const [text = ''] = /^.*"signature":/.exec(request?.body ?? '') ?? [];
    expect(text).toBe(
      `{"order":{"salt":${SALT},"maker":"${ADDRESS}","signer":"${ADDRESS}","taker":"${ZERO}","tokenId":"${YES_TOKEN}",` +
        '"makerAmount":1,"takerAmount":1000,"expiration":"0","nonce":0,"feeRateBps":300,"side":0,"signatureType":0,"price":0.001,"signature":',
    );
    const call = { method: 'POST', target: '/orders', body: request?.body ?? '' };
    expect(headers).toEqual({ ...tokenHeaders(CREDENTIAL, call, NOW), 'content-type': 'application/json' });
    expect(request).toMatchObject({ method: 'POST', retry: false, group: 'limitless:all' });
  });

  test('is sent to its end even when the caller goes away', async () => {
    const { signal } = new AbortController();
    const { request } = await sent({}, { access: { ...orderAccess(), signal } });
    expect(request).not.toHaveProperty('signal');
  });

  test('carries amounts that are exactly price × size in base units, whatever the digits', async () => {
    const { body } = await sent({ price: '0.999', size: '9000000000.123' });
    expect(body.order).toMatchObject({ makerAmount: 8991000000122877, takerAmount: 9000000000123000, price: 0.999 });
  });

  test('is signed by the owner of a smart wallet for that wallet', async () => {
    const smartWallet = '0xAb2B9833FC8B8f55F4De7C4A0FAb8577EF0F7b36';
    const profile = profileRow({
      account: '0x7CFF82f72b991B6B2b661e404389fD8a40bCD21B',
      tradeWalletOption: 'smartWallet',
      smartWallet,
      embeddedAccount: ADDRESS,
      rank: { feeRateBps: 250 },
    });
    const { body } = await sent({}, { answers: { '/profiles/me': profile } });
    expect(body.order).toMatchObject({ maker: smartWallet, signer: ADDRESS, signatureType: 2, feeRateBps: 250 });
  });

  test('shows what a buy spends at most', async () => {
    expect(await metadataOf({ type: 'market', timeInForce: 'ioc', walk })).toEqual({ collateral: 5.6 });
    expect(await metadataOf({})).toEqual({ collateral: 5.6 });
    expect(await metadataOf({ side: 'sell' })).toEqual({});
  });

  test.each([
    [{ postOnly: true }, { postOnly: true }],
    [{ selfTradePrevention: 'cancel_maker' }, { postOnly: false, stpPolicy: 'cancel_maker' }],
    [{ selfTradePrevention: 'cancel_taker' }, { postOnly: false, stpPolicy: 'cancel_taker' }],
    [{ selfTradePrevention: 'cancel_both', timeInForce: 'ioc' }, { stpPolicy: 'cancel_both' }],
  ] as const)('carries the choices %o, which are not signed', async (wanted, choices) => {
    const { body } = await sent(wanted);
    const plain = (await sent({ timeInForce: 'timeInForce' in wanted ? wanted.timeInForce : 'gtc' })).body;
    const { postOnly: _, ...rest } = plain;
    expect(body).toEqual({ ...rest, ...choices });
  });

  test('has a longer window when it waits for others, and leaves their group when it is sent', async () => {
    const group = new PlacementGroup(2, virtualClock());
    const { body, placement } = await sent({}, { access: { ...orderAccess(), group: group.member() } });
    expect(body.recvWindow).toBe(10_000);
    expect(placement).toMatchObject({ result: 'accepted' });
    // The other member, which is the last one now.
    const send = async (bodies: readonly string[]) => bodies.map((detail) => ({ ...placement, detail }));
    expect(await group.member().place('other', 'alone', send)).toMatchObject({ detail: 'alone' });
  });
});

/** The refusal of `check`, which must be a 422. */
const refused = (wanted: Wanted, market = MARKET): { message: string; resolution: string; errorText: string } => {
  const { adapter } = cannedOrders();
  try {
    adapter.check(market, terms(wanted));
  } catch (error) {
    expect(error).toMatchObject({ name: 'ApiError', status: 422 });
    return error as { message: string; resolution: string; errorText: string };
  }
  throw new Error('was not refused');
};

describe('an order Limitless would refuse is refused before it is signed', () => {
  test('an expiry, which it does not know', () => {
    const error = refused({ timeInForce: 'gtd', expirationMs: NOW + 60_000 });
    expect([error.message, error.resolution]).toEqual([
      'Limitless orders cannot expire (gtd)',
      'Use gtc and cancel the order, or ioc.',
    ]);
  });

  test.each([
    ['buy', 'limit', undefined],
    ['sell', 'limit', undefined],
    ['buy', 'market', { size: '10', cost: '5.6' }],
    ['sell', 'market', { size: '10', cost: '5.6' }],
  ] as const)('a fill-or-kill order, whose price it cannot keep: %s %s', (side, type, walk) => {
    const error = refused({ side, type, timeInForce: 'fok', ...(walk ? { walk } : {}) });
    expect(error.message).toContain('no fok order');
    expect(error.resolution).toContain('Use ioc');
  });

  test('a price between two ticks, with the prices around it', () => {
    expect(refused({ price: '0.5605' })).toMatchObject({
      resolution: 'Use one of the nearest valid prices: 0.56 or 0.561.',
      errorText: 'price: 0.5605',
    });
  });

  test.each([
    ['1.7857', '1.785 or 1.786'],
    ['0.0004', '0.001'],
  ])('a size of %s, with the sizes around it', (size, nearest) => {
    expect(refused({ size }).resolution).toBe(`Use one of the nearest valid sizes: ${nearest}.`);
  });

  test('an amount beyond what a JSON number holds', () => {
    expect(refused({ size: '9007199254.741' }).message).toBe('The order is too large for Limitless');
  });

  test.each([
    ['an AMM', { ...MARKET, metadata: { trade_type: 'amm' } }],
    [
      'a group or a market without tokens',
      { ...MARKET, outcomes: MARKET.outcomes.map((one) => ({ ...one, tokenId: '' })) },
    ],
    ['a market in another collateral', { ...MARKET, metadata: { collateral: 'WETH' } }],
  ])('%s', (_, market) => {
    expect(refused({}, market).message).toBe('This Limitless market has no order book');
  });

  test('a market that names no exchange, until it names one', async () => {
    let venue: object = venueRow(null);
    const { adapter, access, http } = cannedOrders({ [`/markets/${SLUG}`]: () => venue });
    await expect(adapter.prepare(intent(terms()), access)).rejects.toMatchObject({ status: 422 });
    expect(http.asked).not.toContain('/orders');
    venue = venueRow();
    await expect(adapter.prepare(intent(terms()), access)).resolves.toBeDefined();
  });

  test.each([
    [
      'another wallet than the account',
      { account: '0x7CFF82f72b991B6B2b661e404389fD8a40bCD21B' },
      'Store the private key',
    ],
    [
      'the plain wallet of an account in smart wallet mode',
      { tradeWalletOption: 'smartWallet' },
      'from its smart wallet',
    ],
  ])('the key of %s', async (_, change, resolution) => {
    const { adapter, access } = cannedOrders({ '/profiles/me': profileRow(change) });
    await expect(adapter.prepare(intent(terms()), access)).rejects.toMatchObject({
      status: 422,
      resolution: expect.stringContaining(resolution),
    });
  });
});

describe('what signing needs to know', () => {
  test('is read once for all orders of an account and market, parallel ones too', async () => {
    const { adapter, access, http } = cannedOrders();
    await Promise.all(Array.from({ length: 20 }, () => adapter.prepare(intent(terms()), access)));
    expect(http.asked.toSorted()).toEqual([`/markets/${SLUG}`, '/profiles/me']);
  });

  test('is not shared with a credential that has the token id but not its secret, nor is its allowance of calls', async () => {
    const { adapter, access, http } = cannedOrders();
    await adapter.prepare(intent(terms()), access);
    const other = { ...CREDENTIAL, secret: Buffer.alloc(32, 8).toString('base64') };
    await adapter.prepare(intent(terms()), orderAccess(other));
    const looks = http.requests.filter(({ url }) => url.endsWith('/profiles/me'));
    expect(looks.map(({ circuit, forOrder }) => [circuit, forOrder])).toEqual([
      ['account', true],
      ['account', true],
    ]);
    expect(new Set(looks.map(({ account }) => account)).size).toBe(2);
    expect(looks).toHaveLength(2);
    // What is public counts against nobody's token.
    const markets = http.requests.filter(({ url }) => url.includes('/markets/'));
    expect(markets.map(({ account }) => account)).toEqual([undefined]);
  });

  test('is asked again when the look-up failed', async () => {
    let fails = true;
    const { adapter, access } = cannedOrders({
      '/profiles/me': () => (fails ? refuse('unavailable', 502) : profileRow()),
    });
    await expect(adapter.prepare(intent(terms()), access)).rejects.toMatchObject({ kind: 'unavailable' });
    fails = false;
    await expect(adapter.prepare(intent(terms()), access)).resolves.toMatchObject({ orderId: null });
  });

  test('the fee rate is read again after a refusal that names it, but not oftener than once a minute', async () => {
    const message = "feeRateBps[300] is out of user's band";
    let rate = 300;
    const { adapter, access, http, advance } = cannedOrders({
      '/profiles/me': () => profileRow({ rank: { feeRateBps: rate } }),
      '/orders': { refuse: { kind: 'refused', status: 400, body: { message }, detail: message } },
    });
    const attempt = async () => {
      const prepared = await adapter.prepare(intent(terms()), access);
      expect(await prepared.place()).toMatchObject({ result: 'rejected' });
      return (prepared.wire as unknown as LimitlessNewOrder).order.feeRateBps;
    };
    const before = await attempt();
    rate = 200;
    expect([before, await attempt()]).toEqual([300, 300]);
    advance(60_001);
    expect([await attempt(), await attempt()]).toEqual([200, 200]);
    expect(http.asked.filter((path) => path === '/profiles/me')).toHaveLength(2);
  });
});
