import { beforeAll, describe, expect, test } from 'vitest';
import type { Customer } from '../helpers/trading.ts';
import { tradingRig } from '../helpers/trading-rig.ts';
import { type Member, startKalshi } from '../simulators/kalshi.ts';

const rig = tradingRig(() => startKalshi({ seed: 3, markets: 4, tradesPerMarket: 5 }));
let ann: Customer;
let annAccount: Member;
let bob: Customer;
let bobAccount: Member;

const fields = (of: Member) => ({ api_key_id: of.apiKeyId, private_key: of.privateKeyPem });

interface Own {
  trades?: { outcome: string; size: number }[];
  positions?: { label: string; shares_normalized: number }[];
}
const read = async (who: Customer, list: 'trades' | 'positions', user: string) => {
  const { status, body } = await who.get(`/profile/${list}?provider=kalshi&user=${user}`);
  return { status, error: body.error, ...(body as unknown as Own) };
};
const sizes = async (who: Customer, user = 'me') => (await read(who, 'trades', user)).trades?.map(({ size }) => size);

/** A user of the service with an account that has bought this many contracts of Yes. */
async function trader(ticker: string, size: number): Promise<[Customer, Member]> {
  const account = rig.sim.world.addAccount({ balance: '100' });
  const who = await rig.trading.customer();
  await who.credential('kalshi', fields(account));
  const order = {
    platform: 'kalshi',
    market_id: ticker,
    side: 'buy',
    outcome: 'yes',
    type: 'limit',
    price: 0.45,
    size,
  };
  const { body } = await who.post('/orders', order);
  expect(body.order).toMatchObject({ status: 'filled' });
  return [who, account];
}

beforeAll(async () => {
  const ticker = rig.sim.world.createMarket('rate');
  rig.sim.world.tradeOn(ticker, { takerSide: 'yes', yesPrice: '0.5000', count: '1' });
  rig.sim.world.bookOf(ticker).add('ask', 4500, { trader: 0, count: 3000 });
  [ann, annAccount] = await trader(ticker, 2);
  [bob, bobAccount] = await trader(ticker, 3);
});

describe('the own account at Kalshi', () => {
  test('is read under me and under the id of the own key', async () => {
    expect(await sizes(ann)).toEqual([2]);
    expect(await sizes(ann, annAccount.apiKeyId)).toEqual([2]);
    const { positions } = await read(ann, 'positions', 'me');
    expect(positions).toMatchObject([{ label: 'Yes', shares_normalized: 2 }]);
  });

  test('shows what its positions cost, and their value and profit at the price of the stored market', async () => {
    const { positions } = await read(ann, 'positions', 'me');
    const paid = { shares_normalized: 2, average_price: 0.45 };
    expect(positions).toMatchObject([{ ...paid, current_price: 0.5, value_usd: 1, pnl_usd: 0.1 }]);
  });

  test('reaches nobody else, however soon both ask', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await Promise.all([sizes(ann), sizes(bob)])).toEqual([[2], [3]]);
    }
    expect(await read(ann, 'trades', bobAccount.apiKeyId)).toMatchObject({ status: 404 });
    expect(await read(ann, 'positions', bobAccount.apiKeyId)).toMatchObject({ status: 404 });
  });

  test('is that of the default credential, of another from the moment that one is the default', async () => {
    const member = await rig.trading.customer();
    await member.credential('kalshi', fields(annAccount));
    expect(await sizes(member)).toEqual([2]);
    await member.credential('kalshi', fields(bobAccount));
    expect(await sizes(member)).toEqual([2]);
    await member.credential('kalshi', fields(bobAccount), true);
    expect(await sizes(member)).toEqual([3]);
  });

  test('is found under the id of every stored key, whichever is the default', async () => {
    const member = await rig.trading.customer();
    await member.credential('kalshi', fields(annAccount));
    await member.credential('kalshi', fields(bobAccount));
    expect(await sizes(member, bobAccount.apiKeyId)).toEqual([3]);
    expect(await sizes(member, annAccount.apiKeyId)).toEqual([2]);
  });

  test.each(['trades', 'positions'] as const)(
    'without a credential, its %s are a 422 that says what to do',
    async (list) => {
      const { status, error } = await read(await rig.trading.customer(), list, 'me');
      expect([status, error.resolution]).toEqual([422, 'Store one at POST /v1/api/auth/credentials.']);
    },
  );

  test('with a credential that Kalshi rejects, it is a 422 that asks for a new one', async () => {
    const member = await rig.trading.customer();
    await member.credential('kalshi', { api_key_id: annAccount.apiKeyId, private_key: bobAccount.privateKeyPem });
    const { status, error } = await read(member, 'trades', 'me');
    expect([status, error.resolution]).toEqual([422, 'Store a new one at POST /v1/api/auth/credentials.']);
  });
});
