import { expect } from 'vitest';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { PlatformHttp } from '../../src/platforms/http/request.ts';
import type { OrderIntent, Placement, PlatformOrder } from '../../src/platforms/order-contract.ts';
import { createPolymarketData } from '../../src/platforms/polymarket/data.ts';
import { createPolymarketOrders } from '../../src/platforms/polymarket/orders/adapter.ts';
import { SETTINGS, readContext } from '../fixtures/canned-http.ts';
import { intent, orderAccess, recordOf, terms, type Credential, type Wanted } from '../fixtures/polymarket/orders.ts';
import type { PolymarketWorld } from '../simulators/polymarket.ts';
import type { SimMarket } from '../simulators/polymarket/world/model.ts';
import { shares } from '../simulators/polymarket/world/units.ts';
import type { Simulator } from '../simulators/simulator.ts';

let members = 0;

/** The order adapter in the hands of a new member of a world, with 10,000 pUSD and 2000 of either outcome of the market that is used. */
export function polymarketMember(
  sim: Simulator<PolymarketWorld>,
  { http, way = http }: { http: PlatformHttp; way?: PlatformHttp },
  marketNow: () => SimMarket,
  type: 0 | 1 | 2 | 3 = 0,
) {
  members += 1;
  const { world } = sim;
  const privateKey = `0x${String(members).padStart(64, 'c')}` as const;
  const account = world.addWallet({ privateKey, signatureType: type });
  world.giveShares(account.wallet, marketNow(), shares('2000'));
  const deps = { http: way, settings: { ...SETTINGS, ...sim.env }, now: () => world.now() };
  const adapter = createPolymarketOrders(deps);
  const data = createPolymarketData({ ...deps, http });
  const keys = async ({ conditionId }: SimMarket): Promise<StoredMarket> => {
    const record = await data.market(conditionId, readContext());
    if (!record) throw new Error('no such market');
    return { ...record.info, status: record.state.status };
  };
  const credential: Credential = {
    private_key: privateKey,
    signature_type: type,
    ...(type === 0 ? {} : { funder: account.wallet.address as `0x${string}` }),
  };
  const access = orderAccess(credential, {
    byRef: async (_, refs) => {
      const known = await Promise.all(
        refs.map(async (ref) => [ref, await keys(world.catalog.byConditionId(ref)!)] as const),
      );
      return new Map(known);
    },
  });
  const sign = async (wanted: Wanted, rest: Partial<OrderIntent> = {}) => {
    const order = intent(terms(wanted), { market: await keys(marketNow()), claimedAtMs: world.now(), ...rest });
    adapter.check(order.market, order.terms);
    const prepared = await adapter.prepare(order, access);
    return { prepared, record: recordOf(prepared, order) };
  };
  const place = async (wanted: Wanted, rest: Partial<OrderIntent> = {}) => {
    const { prepared, record } = await sign(wanted, rest);
    return { placement: await prepared.place(), record };
  };
  return { adapter, data, access, account, keys, sign, place };
}

/** The order of a placement that the platform accepted. */
export function acceptedOrder({ placement }: { placement: Placement }): PlatformOrder {
  expect(placement).toMatchObject({ result: 'accepted' });
  return (placement as Extract<Placement, { result: 'accepted' }>).order;
}
