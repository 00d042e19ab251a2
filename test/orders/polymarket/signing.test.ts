import { OrderBuilder, Side, SignatureTypeV2, type TickSize } from '@polymarket/clob-client-v2';
import { createWalletClient, http, recoverTypedDataAddress, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from '../../../src/platforms/polymarket/api-keys.ts';
import { EXCHANGES } from '../../../src/platforms/polymarket/orders/exchanges.ts';
import { orderAmounts } from '../../../src/platforms/polymarket/orders/amounts.ts';
import { WIRE_SIDE, toWireOrder } from '../../../src/platforms/polymarket/orders/request.ts';
import { signAuth, signOrder, type WireOrder } from '../../../src/platforms/polymarket/orders/signing.ts';
import { refuse } from '../../fixtures/canned-http.ts';
import {
  ADDRESS,
  API_KEY,
  CREDENTIAL,
  FUNDER,
  KEY,
  NOW,
  SECRET,
  cannedOrders,
  intent,
  marketWith,
  orderAccess,
  placedRow,
  terms,
  type Wanted,
} from '../../fixtures/polymarket/orders.ts';
import { token } from '../../fixtures/polymarket/rows.ts';

const STANDARD = EXCHANGES.standard.domain;
const NEGATIVE_RISK = EXCHANGES.negativeRisk.domain;
const V3 = EXCHANGES.v3.domain;

const ZERO: Hex = `0x${'0'.repeat(64)}`;

/** An order that Polymarket's own client signed with the public test key: buy 10 at 0.45. */
const known: WireOrder = {
  salt: 897609600062,
  maker: ADDRESS,
  signer: ADDRESS,
  tokenId: '88961346776698275312099091219289790569712776124493130520065587087692396485070',
  makerAmount: '4500000',
  takerAmount: '10000000',
  side: 'BUY',
  signatureType: 0,
  timestamp: '1795219200123',
  expiration: '0',
  metadata: ZERO,
  builder: ZERO,
};

describe('signing for Polymarket', () => {
  test('the known order has the known id and signature on the standard exchange', async () => {
    expect(await signOrder(known, STANDARD, KEY)).toEqual({
      orderId: '0x2e7185932a6c3fc170a585214affc988ceed959e6243c102bd9cc29777dd2b3c',
      signature:
        '0x925e57a129393283e4321a40a31f43e96be7c1c52d8eeebdc6a0e24bfa9fa3e519f109885f4048255c37a4e4d1811427cb11290c9c2899660d03550c90d173f61b',
    });
  });

  test('and another id on each of the other exchanges', async () => {
    const domains = [STANDARD, NEGATIVE_RISK, V3];
    const ids = await Promise.all(domains.map(async (domain) => (await signOrder(known, domain, KEY)).orderId));
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe('0x14b08f2a3fbc90db3affcd04bb37fca010b7f102ab760a5fa94acc900690259c');
  });

  test('the expiration is not signed', async () => {
    expect(await signOrder({ ...known, expiration: '1795300000' }, STANDARD, KEY)).toEqual(
      await signOrder(known, STANDARD, KEY),
    );
  });

  test('the proof of holding a wallet recovers to it', async () => {
    const signature = await signAuth(KEY, '1795219200');
    const signer = await recoverTypedDataAddress({
      domain: { name: 'ClobAuthDomain', version: '1', chainId: 137 },
      types: {
        ClobAuth: [
          { name: 'address', type: 'address' },
          { name: 'timestamp', type: 'string' },
          { name: 'nonce', type: 'uint256' },
          { name: 'message', type: 'string' },
        ],
      },
      primaryType: 'ClobAuth',
      message: {
        address: ADDRESS,
        timestamp: '1795219200',
        nonce: 0n,
        message: 'This message attests that I control the given wallet',
      },
      signature,
    });
    expect(signer).toBe(ADDRESS);
  });

  test('a private call carries the known HMAC, URL-safe and padded', () => {
    const key = { key: 'k', secret: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', passphrase: 'p' };
    const call = { timestamp: '1000000', method: 'test-sign', path: '/orders', body: '{"hash": "0x123"}' };
    expect(signedHeaders(key, ADDRESS, call)).toEqual({
      POLY_ADDRESS: ADDRESS,
      POLY_API_KEY: 'k',
      POLY_PASSPHRASE: 'p',
      POLY_TIMESTAMP: '1000000',
      POLY_SIGNATURE: 'ZwAdJKvoYRlEKDkNMwd5BuwNNtg93kNaR_oU2HrfVvc=',
    });
  });
});

/** As the client puts it on the wire. */
const wireOf = (order: unknown): WireOrder & { signature: Hex } => {
  const { salt, expiration = '0', ...rest } = order as WireOrder & { signature: Hex };
  return { ...rest, salt: Number(salt), expiration };
};

describe("Polymarket's own client", () => {
  const signer = createWalletClient({ account: privateKeyToAccount(KEY), chain: polygon, transport: http() });
  const official = (type: SignatureTypeV2) =>
    new OrderBuilder(signer, 137, type, type === SignatureTypeV2.EOA ? undefined : FUNDER);
  test.each([
    ['the wallet itself', SignatureTypeV2.EOA],
    ['a proxy', SignatureTypeV2.POLY_PROXY],
    ['a Safe', SignatureTypeV2.POLY_GNOSIS_SAFE],
    ['a deposit wallet', SignatureTypeV2.POLY_1271],
  ])('signs the same bytes for %s, on every exchange', async (_, type) => {
    for (const [domain, negRisk, version] of [
      [STANDARD, false, 2],
      [NEGATIVE_RISK, true, 2],
      [V3, false, 3],
      // One contract for all of Protocol V2.
      [V3, true, 3],
    ] as const) {
      const order = { tokenID: token(11), price: 0.45, size: 10, side: Side.BUY };
      const built = await official(type).buildOrder(order, { tickSize: '0.01', negRisk }, version);
      const { signature, ...theirs } = wireOf(built);
      const { salt, timestamp } = theirs;
      const funder = type === SignatureTypeV2.EOA ? null : FUNDER.toLowerCase();
      const wallet = { signatureType: type, owner: ADDRESS, funder } as const;
      const ours = { ...toWireOrder(intent(terms()), wallet), salt, timestamp };
      expect(ours).toEqual(theirs);
      expect(await signOrder(ours, domain, KEY)).toMatchObject({ signature });
    }
  });

  test.each<[tick: TickSize, price: string, size: string]>([
    ['0.1', '0.7', '21.04'],
    ['0.01', '0.56', '1234.57'],
    ['0.005', '0.565', '17.39'],
    ['0.0025', '0.0975', '5.01'],
    ['0.001', '0.567', '12.34'],
    ['0.0001', '0.0123', '999.99'],
  ])('computes the same amounts with a tick of %s', async (tickSize, price, size) => {
    for (const side of ['buy', 'sell'] as const) {
      const order = { tokenID: token(11), price: Number(price), size: Number(size), side: WIRE_SIDE[side] as Side };
      const theirs = wireOf(await official(0).buildOrder(order, { tickSize, negRisk: false }, 2));
      expect(amountsOf({ side, price, size }, tickSize)).toEqual([theirs.makerAmount, theirs.takerAmount]);
    }
  });

  test.each<[tick: TickSize, price: string, cost: string]>([
    ['0.1', '0.7', '21.04'],
    ['0.01', '0.45', '10'],
    ['0.005', '0.565', '17.39'],
    ['0.0025', '0.0975', '5.01'],
    ['0.001', '0.457', '3.19'],
    ['0.0001', '0.0123', '0.37'],
  ])('asks for the same shares when it spends dollars with a tick of %s', async (tickSize, price, cost) => {
    const order = { tokenID: token(11), price: Number(price), amount: Number(cost), side: Side.BUY };
    const theirs = wireOf(await official(0).buildMarketOrder(order, { tickSize, negRisk: false }, 2));
    const wanted = { type: 'market', timeInForce: 'fok', price, size: '1', walk: { size: '1', cost } } as const;
    expect(amountsOf(wanted, tickSize)).toEqual([theirs.makerAmount, theirs.takerAmount]);
  });
});

/** Maker amount and taker amount as texts. */
function amountsOf(wanted: Wanted, tickSize: string): string[] {
  const { usd, shares } = orderAmounts(marketWith({ tick_size: Number(tickSize) }), terms(wanted));
  return (wanted.side === 'sell' ? [shares, usd] : [usd, shares]).map(String);
}

describe('the API key of a wallet', () => {
  const { api_key: _key, api_secret: _secret, api_passphrase: _passphrase, ...walletOnly } = CREDENTIAL;
  const issued = { apiKey: API_KEY, secret: SECRET, passphrase: 'open sesame' };
  const none = { refuse: { kind: 'refused', status: 400, detail: 'Could not derive api key!' } } as const;
  const DERIVE = '/auth/derive-api-key';
  const CREATE = '/auth/api-key';
  const UPDATE = '/balance-allowance/update';
  /** Calls except those that have the wallet's balance read. */
  const keyCalls = ({ asked }: { asked: string[] }) => asked.filter((call) => !call.startsWith(UPDATE));

  test('is derived once for parallel orders, and signed for by the wallet', async () => {
    const { adapter, http } = cannedOrders({ [DERIVE]: issued });
    const access = orderAccess(walletOnly);
    await Promise.all(Array.from({ length: 10 }, () => adapter.prepare(intent(terms()), access)));
    expect(keyCalls(http)).toEqual([DERIVE]);
    expect(http.requests[0]).toMatchObject({
      method: 'GET',
      headers: {
        POLY_ADDRESS: ADDRESS,
        POLY_TIMESTAMP: String(Math.floor(NOW / 1000)),
        POLY_NONCE: '0',
        POLY_SIGNATURE: await signAuth(KEY, String(Math.floor(NOW / 1000))),
      },
    });
  });

  test('is made for a wallet that has none, with one attempt', async () => {
    const { adapter, http } = cannedOrders({ [DERIVE]: none, [CREATE]: issued, '/order': placedRow() });
    const prepared = await adapter.prepare(intent(terms()), orderAccess(walletOnly));
    await prepared.place();
    expect(http.requests.map(({ method, url, retry }) => [method, new URL(url).pathname, retry])).toEqual([
      ['GET', DERIVE, true],
      ['POST', CREATE, false],
      ['GET', UPDATE, true],
      ['POST', '/order', false],
    ]);
    expect(JSON.parse(http.requests[3]?.body ?? '')).toMatchObject({ owner: API_KEY });
  });

  test('that another process makes meanwhile is found', async () => {
    let asked = 0;
    const { adapter } = cannedOrders({ [DERIVE]: () => ((asked += 1) === 1 ? none : issued), [CREATE]: none });
    await expect(adapter.prepare(intent(terms()), orderAccess(walletOnly))).resolves.toBeDefined();
  });

  test('that could not be read is asked for again', async () => {
    let asked = 0;
    const { adapter } = cannedOrders({ [DERIVE]: () => ((asked += 1) === 1 ? refuse('unavailable', 502) : issued) });
    const access = orderAccess(walletOnly);
    await expect(adapter.prepare(intent(terms()), access)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(adapter.prepare(intent(terms()), access)).resolves.toBeDefined();
  });

  test('that the platform refuses is asked for again by the next call', async () => {
    const { adapter, http } = cannedOrders({ [DERIVE]: issued, '/order': refuse('unauthorized', 401, {}) });
    const access = orderAccess(walletOnly);
    const first = await adapter.prepare(intent(terms()), access);
    expect(await first.place()).toMatchObject({ result: 'rejected', httpStatus: 401, refusal: { status: 503 } });
    await adapter.prepare(intent(terms()), access);
    expect(keyCalls(http)).toEqual([DERIVE, '/order', DERIVE]);
  });

  test('is not shared between wallets, and a given one is used as it is', async () => {
    const { adapter, http } = cannedOrders({ [DERIVE]: issued });
    await adapter.prepare(intent(terms()), orderAccess(walletOnly));
    await adapter.prepare(intent(terms()), orderAccess({ ...walletOnly, private_key: `0x${'2'.repeat(64)}` }));
    await adapter.prepare(intent(terms()), orderAccess(CREDENTIAL));
    expect(keyCalls(http)).toEqual([DERIVE, DERIVE]);
  });
});
