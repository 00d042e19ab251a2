import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/core/errors.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { domainHash } from '../../../src/platforms/evm/typed-data.ts';
import { EXCHANGES } from '../../../src/platforms/polymarket/orders/exchanges.ts';
import { signOrder, type WireOrder } from '../../../src/platforms/polymarket/orders/signing.ts';
import { createPolymarketOrders } from '../../../src/platforms/polymarket/orders/adapter.ts';
import { SETTINGS, cannedHttp } from '../../fixtures/canned-http.ts';
import { EXCHANGE_V3 } from '../../fixtures/polymarket/exchange-v3-orders.ts';
import { KEY, MARKET, NOW, terms, type Wanted } from '../../fixtures/polymarket/orders.ts';

const V3 = EXCHANGES.v3.domain;

describe('signing for Exchange V3', () => {
  test('has the domain separator that is published, and that another library computes', () => {
    expect(domainHash(V3)).toBe('0x466c63910185bbd55e8679264200c4e0abdcbb0c6264eb3d41d13326022e095b');
    expect(domainHash(V3)).toBe(EXCHANGE_V3.domainSeparator);
  });

  test('gives the published order its id', async () => {
    const nobody = `0x${'0'.repeat(40)}` as const;
    const none = `0x${'0'.repeat(64)}` as const;
    const order: WireOrder = {
      salt: 1,
      maker: nobody,
      signer: nobody,
      tokenId: '1',
      makerAmount: '1000000',
      takerAmount: '2000000',
      side: 'BUY',
      signatureType: 3,
      timestamp: '1791220000',
      expiration: '0',
      metadata: none,
      builder: none,
    };
    const { orderId } = await signOrder(order, V3, KEY);
    expect(orderId).toBe('0x529d440652102e5d9aea11536d90c0a43148fc1dc7e80c525de83cd0cfe14040');
  });

  test.each(EXCHANGE_V3.orders)('agrees with another library: $name', async ({ order, orderId, signature }) => {
    expect(await signOrder(order, V3, KEY)).toEqual({ orderId, signature });
  });
});

/** A market whose outcomes are positions of one condition. */
function positions(module: number, facts: Record<string, unknown> = { version: 'v2' }): StoredMarket {
  const condition = (BigInt(module) << 248n) + (0x5ca1ab1e0ddba11n << 120n);
  const outcomes = MARKET.outcomes.map((one, index) => ({ ...one, tokenId: String(condition + BigInt(index)) }));
  return { ...MARKET, outcomes, metadata: { ...MARKET.metadata, ...facts } };
}

function checked(market: StoredMarket, wanted: Wanted = {}, negativeRiskV2 = false): ApiError | null {
  const settings = { ...SETTINGS, POLYMARKET_V2_NEGATIVE_RISK: negativeRiskV2 };
  const deps = { http: cannedHttp(() => undefined), settings, now: () => NOW };
  try {
    createPolymarketOrders(deps).check(market, terms(wanted));
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

describe('an order is checked against the exchange of its market', () => {
  test('and taken on a binary market of Protocol V2', () => {
    expect(checked(positions(1))).toBeNull();
  });

  test('and refused with 422 as a purchase where it stands for outcomes that the event does not name', () => {
    const market = { ...MARKET, metadata: { ...MARKET.metadata, neg_risk: true, neg_risk_other: true } };
    expect(checked(market)).toMatchObject({ status: 422, resolution: 'Buy in a market that names its outcome.' });
    expect(checked(market, { side: 'sell' })).toBeNull();
  });

  test('and recognized by the ids where the row has no version, as by Polymarket’s own client', () => {
    expect(checked(positions(2, {}))?.message).toContain('Protocol V2');
    expect(checked(MARKET)).toBeNull();
  });

  test.each([undefined, null, 'true'])(
    'and refused with 422 where its contract is not known (neg_risk %j)',
    (neg_risk) => {
      for (const version of [undefined, 'v1']) {
        const market = { ...MARKET, metadata: { ...MARKET.metadata, neg_risk, version } };
        expect(checked(market)).toMatchObject({ status: 422, errorText: expect.stringContaining('no neg_risk') });
      }
      expect(checked(positions(1, { version: 'v2', neg_risk }))).toBeNull();
    },
  );

  test.each(['v3', 'v20', 'V2', 2])('and refused with 422 where its version is not known (%j)', (version) => {
    for (const market of [positions(1, { version }), { ...MARKET, metadata: { ...MARKET.metadata, version } }]) {
      expect(checked(market)).toMatchObject({
        status: 422,
        errorText: expect.stringContaining(JSON.stringify(version)),
      });
    }
  });

  test.each([
    [3, 'the combinatorial module'],
    [4, 'the directional module'],
    [9, 'an unknown module'],
  ])('the refusal for module %i names it: %s', (module, words) => {
    expect(checked(positions(module))).toMatchObject({ errorText: expect.stringContaining(words) });
  });

  test.each([0, 3, 4, 255])('and refused with 422 for positions of module %i', (module) => {
    expect(checked(positions(module))).toMatchObject({ status: 422, message: expect.stringContaining('this kind') });
  });

  test('and refused with 422 for tokens of version 1 on a market of Protocol V2', () => {
    expect(checked({ ...MARKET, metadata: { ...MARKET.metadata, version: 'v2' } })).toMatchObject({ status: 422 });
  });

  test('and refused with 422 on negative-risk markets of Protocol V2 unless the operator allows them', () => {
    for (const market of [positions(2), positions(1, { version: 'v2', neg_risk: true })]) {
      expect(checked(market)).toMatchObject({
        status: 422,
        resolution: expect.stringContaining('POLYMARKET_V2_NEGATIVE_RISK'),
      });
      expect(checked(market, {}, true)).toBeNull();
    }
  });

  test.each([
    ['version 1', MARKET],
    ['version 1 with negative risk', { ...MARKET, metadata: { ...MARKET.metadata, neg_risk: true } }],
    ['Protocol V2', positions(1)],
  ])(
    'and refused with 422 for a date that may be less than two minutes ahead when the order arrives, with one that is accepted (%s)',
    (_, market) => {
      const living = (ms: number) => checked(market, { timeInForce: 'gtd', expirationMs: NOW + ms });
      for (const ms of [6000, 60_000, 120_000, 120_999]) {
        const { status, resolution = '' } = living(ms) ?? {};
        expect([status, resolution]).toEqual([
          422,
          expect.stringMatching(
            /^Keep the order valid for 120 seconds or more after it arrives, or use .* gtc: for example/,
          ),
        ]);
        const [advised = ''] = /2026-\S+Z/.exec(resolution) ?? [];
        expect(living(Date.parse(advised) - NOW)).toBeNull();
      }
      expect(living(122_000)).toBeNull();
    },
  );
});
