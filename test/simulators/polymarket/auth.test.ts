import { ClobClient, OrderType } from '@polymarket/clob-client-v2';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signAuth } from '../../../src/platforms/polymarket/orders/signing.ts';
import type { ManualClock } from '../lib/index.ts';
import type { PolymarketWorld } from '../polymarket.ts';
import { hmacOf } from './clob/keys.ts';
import type { WireOrder } from './clob/order.ts';
import { authSigner, orderHash, orderSigner } from './clob/typed-data.ts';
import type { Reader, Row } from './reader.ts';
import { startQuiet, type TradingRig } from './trading-rig.ts';
import type { SimMarket } from './world/model.ts';
import { SECOND } from './world/units.ts';
import type { Simulator } from '../simulator.ts';

/** The address of the public Hardhat test key; order, hashes and signatures below are published known answers. */
const HARDHAT_ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const ZERO: Hex = `0x${'0'.repeat(64)}`;
const KNOWN: WireOrder = {
  salt: 897609600062,
  maker: HARDHAT_ADDRESS,
  signer: HARDHAT_ADDRESS,
  tokenId: '88961346776698275312099091219289790569712776124493130520065587087692396485070',
  makerAmount: '4500000',
  takerAmount: '10000000',
  side: 'BUY',
  signatureType: 0,
  timestamp: '1795219200123',
  expiration: '0',
  metadata: ZERO,
  builder: ZERO,
  signature:
    '0x925e57a129393283e4321a40a31f43e96be7c1c52d8eeebdc6a0e24bfa9fa3e519f109885f4048255c37a4e4d1811427cb11290c9c2899660d03550c90d173f61b',
};
const DEPOSIT_WALLET = '0x1111111111111111111111111111111111111111';
const DEPOSIT_SIGNATURE =
  '0xf17aaf3cde2c6887c35213448c554efa51e75e1209c51e66c8bd25944cd1eead101baeb26bd66020d4191664dc1c56d12944fcd6a4e810778ef2c0e8c94856e81b3264e159346253e26a64e00b69032db0e7d32f94628de3e6eecb50304d7af3d235dd889b37625c6c7b8f87a1831b6335109e5d9932ef540f9ae7512332d992ad4f726465722875696e743235362073616c742c61646472657373206d616b65722c61646472657373207369676e65722c75696e7432353620746f6b656e49642c75696e74323536206d616b6572416d6f756e742c75696e743235362074616b6572416d6f756e742c75696e743820736964652c75696e7438207369676e6174757265547970652c75696e743235362074696d657374616d702c62797465733332206d657461646174612c62797465733332206275696c6465722900ba';

let clock: ManualClock;
let sim: Simulator<PolymarketWorld>;
let world: PolymarketWorld;
let reader: Reader;
let rig: TradingRig;
let market: SimMarket;
let yes: string;

beforeAll(async () => {
  ({ clock, sim, world, reader, rig } = await startQuiet());
});
afterAll(() => sim.close());
beforeEach(() => {
  market = rig.flat();
  [yes = ''] = market.tokenIds;
});

describe('signatures', () => {
  test('an order id is its EIP-712 hash, per exchange contract', () => {
    expect(orderHash(KNOWN, 'standard')).toBe('0x2e7185932a6c3fc170a585214affc988ceed959e6243c102bd9cc29777dd2b3c');
    expect(orderHash(KNOWN, 'v3')).toBe('0x14b08f2a3fbc90db3affcd04bb37fca010b7f102ab760a5fa94acc900690259c');
  });

  test('the signer is recovered for its own contract only, through a deposit wallet too', async () => {
    expect(await orderSigner(KNOWN, 'standard')).toBe(HARDHAT_ADDRESS);
    expect(await orderSigner(KNOWN, 'negRisk')).not.toBe(HARDHAT_ADDRESS);
    const deposit: WireOrder = {
      ...KNOWN,
      maker: DEPOSIT_WALLET,
      signer: DEPOSIT_WALLET,
      signatureType: 3,
      signature: DEPOSIT_SIGNATURE,
    };
    expect(await orderSigner(deposit, 'standard')).toBe(HARDHAT_ADDRESS);
    expect(await orderSigner({ ...deposit, makerAmount: '4500001' }, 'standard')).toBeNull();
  });

  test('the HMAC and the L1 proof are the published ones', async () => {
    const secret = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';
    expect(hmacOf(secret, '1000000', 'test-sign', '/orders', '{"hash": "0x123"}')).toBe(
      'ZwAdJKvoYRlEKDkNMwd5BuwNNtg93kNaR_oU2HrfVvc=',
    );
    const signature =
      '0x208d69d71c6ac135c032e218554da6d7c3bf7875016a8274a63399d4b5a821834e154158db472391f4382cc37a9cd5a433c4e4d8629a55c43ea6a868cc3519711c';
    expect(await authSigner({ address: HARDHAT_ADDRESS, timestamp: '1795219200', nonce: '0', signature })).toBe(
      HARDHAT_ADDRESS,
    );
  });

  test.each([1, 2, 3] as const)('orders of wallet type %i are taken from its owner', async (signatureType) => {
    const who = await rig.trader({ signatureType });
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 10 })).toMatchObject({ success: true, status: 'live' });
    expect(world.ordersOf(who.account)[0]?.account.wallet.address).not.toBe(who.account.owner);
  });
});

describe('API keys', () => {
  test('one key per address and nonce: created once, derived again, gone when deleted', async () => {
    const who = await rig.trader();
    const strict = new ClobClient({ host: who.client.host, chain: 137, signer: who.client.signer, throwOnError: true });
    await expect(strict.createApiKey()).rejects.toThrow('Could not create api key');
    expect(await who.client.deriveApiKey()).toEqual(who.creds);
    expect(await who.client.getApiKeys()).toEqual({ apiKeys: [who.creds.key] });
    await who.client.deleteApiKey();
    expect(await who.client.getApiKeys()).toMatchObject({ status: 401, error: 'Unauthorized/Invalid api key' });
    await expect(strict.deriveApiKey()).rejects.toThrow('Could not derive api key!');
  });

  test('a wrong secret, body or L1 signature is 401', async () => {
    const who = await rig.trader();
    const forged = { ...who, creds: { ...who.creds, secret: Buffer.alloc(32).toString('base64') } };
    expect((await rig.send(forged, 'GET', '/data/orders')).status).toBe(401);
    expect((await rig.send(who, 'GET', '/data/orders?market=0x1')).status).toBe(200);
    const reply = await reader.ask('CLOB', '/auth/api-key', {
      method: 'POST',
      headers: { poly_address: HARDHAT_ADDRESS, poly_signature: KNOWN.signature, poly_timestamp: '1', poly_nonce: '0' },
    });
    expect([reply.status, await reply.json()]).toEqual([401, { error: 'Invalid L1 Request headers' }]);
  });

  test('a time in milliseconds is 401, though it is signed', async () => {
    const { privateKey, creds } = await rig.trader();
    const { address } = privateKeyToAccount(privateKey);
    const ask = (method: string, path: string, timestamp: string, signature: string): Promise<Response> =>
      reader.ask('CLOB', path, {
        method,
        headers: {
          poly_address: address,
          poly_api_key: creds.key,
          poly_passphrase: creds.passphrase,
          poly_timestamp: timestamp,
          poly_signature: signature,
        },
      });
    const list = (time: string) =>
      ask('GET', '/data/orders', time, hmacOf(creds.secret, time, 'GET', '/data/orders', ''));
    const derive = async (time: string) => ask('GET', '/auth/derive-api-key', time, await signAuth(privateKey, time));
    for (const call of [list, derive]) {
      expect([(await call('1795219200')).status, (await call('1795219200123')).status]).toEqual([200, 401]);
    }
  });
});

describe('the engine’s modes', () => {
  test('restarting is 425, then post-only and cancel-only 503 with the words that distinguish them', async () => {
    const who = await rig.trader();
    const resting = await rig.limit(who, { token: yes, at: 0.3, size: 10 });
    world.exchange.mode = 'restarting';
    expect((await rig.send(who, 'DELETE', '/cancel-all')).status).toBe(425);
    world.exchange.mode = 'post-only';
    world.exchange.modeUntilMs = clock.now() + 79 * SECOND;
    const refused = await rig.limit(who, { token: yes, at: 0.3, size: 11 });
    expect(refused).toMatchObject({
      status: 503,
      error: 'post-only mode: only post-only orders and cancels are allowed',
    });
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 11, postOnly: true })).toMatchObject({ status: 'live' });
    world.exchange.mode = 'cancel-only';
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 12 })).toMatchObject({
      status: 503,
      error: expect.stringContaining('cancel-only'),
    });
    expect(await who.client.cancelOrder({ orderID: String(resting.orderID) })).toMatchObject({
      canceled: [resting.orderID],
    });
    world.exchange.mode = 'disabled';
    expect((await rig.send(who, 'DELETE', '/cancel-all')).status).toBe(503);
    world.exchange.mode = 'normal';
  });

  test('a heartbeat that stops cancels every order of its key', async () => {
    const who = await rig.trader();
    await rig.limit(who, { token: yes, at: 0.3, size: 10 });
    const { heartbeat_id } = await who.client.postHeartbeat();
    expect(await (await rig.send(who, 'POST', '/v1/heartbeats', { heartbeat_id: 'wrong' })).json()).toMatchObject({
      heartbeat_id,
    });
    await who.client.postHeartbeat(heartbeat_id);
    clock.advance(14 * SECOND);
    expect(await who.client.getOpenOrders()).toHaveLength(1);
    clock.advance(2 * SECOND);
    expect(await who.client.getOpenOrders()).toHaveLength(0);
  });

  test('of ten identical orders sent at once one is accepted', async () => {
    const who = await rig.trader();
    const order = await rig.sign(who, { token: yes, at: 0.3, size: 10 });
    const replies = (await Promise.all(
      Array.from({ length: 10 }, () => who.client.postOrder(order, OrderType.GTC, false, true)),
    )) as unknown as Row[];
    expect(replies.filter(({ success }) => success === true)).toHaveLength(1);
    expect(replies.filter(({ error }) => String(error).endsWith('Duplicated.'))).toHaveLength(9);
  });
});
