import { beforeEach, expect, test } from 'vitest';
import { polymarketMember } from '../../helpers/polymarket-member.ts';
import { quietPolymarket } from '../../helpers/quiet-polymarket.ts';
import type { SimMarket } from '../../simulators/polymarket/world/model.ts';
import { shares, usd } from '../../simulators/polymarket/world/units.ts';

const quiet = quietPolymarket();
let market: SimMarket;

beforeEach(() => {
  market = quiet.rig.flat();
});

const askedToRead = (): number => quiet.sim.requests.get('GET /clob/balance-allowance/update') ?? 0;
const member = () => polymarketMember(quiet.sim, { http: quiet.http }, () => market);

test('a balance that Polymarket has not read yet is read before it is stated', async () => {
  const our = member();
  for (const asset of ['COLLATERAL', ...market.tokenIds]) our.account.unread.add(asset);
  const { balances } = await our.adapter.balances(await our.keys(market), our.access);
  expect(balances).toMatchObject([
    { asset: 'pUSD', total: usd('10000') },
    { asset: 'yes', total: shares('2000') },
    { asset: 'no', total: shares('2000') },
  ]);
});

test('Polymarket is not asked again and again to read a balance that is 0', async () => {
  const our = member();
  our.account.cash = 0n;
  const before = askedToRead();
  for (let times = 0; times < 3; times += 1) {
    expect((await our.adapter.balances(null, our.access)).balances).toMatchObject([{ asset: 'pUSD', total: 0n }]);
  }
  expect(askedToRead() - before).toBe(1);
});

test('a balance is stated as read if Polymarket does not read it again', async () => {
  const our = member();
  our.account.unread.add('COLLATERAL');
  quiet.sim.inject({ match: /balance-allowance\/update/, times: 9, kind: 'status', status: 500, body: '' });
  expect((await our.adapter.balances(null, our.access)).balances).toMatchObject([{ asset: 'pUSD', total: 0n }]);
});

test.each([false, true])(
  'open orders reserve the same whether Polymarket states base units or not (%s)',
  async (units) => {
    const our = member();
    await our.place({ price: '0.35', size: '1000' });
    await our.place({ price: '0.6', size: '25.5', side: 'sell' });
    quiet.world.exchange.inBaseUnits = units;
    try {
      const { balances } = await our.adapter.balances(await our.keys(market), our.access);
      expect(balances).toMatchObject([
        { asset: 'pUSD', reserved: usd('350') },
        { asset: 'yes', reserved: shares('25.5') },
        { asset: 'no', reserved: 0n },
      ]);
    } finally {
      quiet.world.exchange.inBaseUnits = false;
    }
  },
);

test('a million shares in plain decimals are no base units where the wallet can pay for them', async () => {
  const our = member();
  await our.place({ price: '0.01', size: '1000000' });
  const [pusd] = (await our.adapter.balances(null, our.access)).balances;
  expect(pusd?.reserved).toBe(usd('10000'));
});
