import type { OrderAccess, OrderIntent, PlatformOrders, PreparedOrder } from '../../order-contract.ts';
import type { AdapterDeps } from '../../contract.ts';
import { createPolymarketAccount, type PolymarketAccount } from '../signed-client.ts';
import { createApiKeys } from '../api-keys.ts';
import type { PolymarketUrl } from '../manifest.ts';
import { exchangeOf, type PolymarketOrderSetting } from './exchanges.ts';
import { cancelOrders } from './cancel.ts';
import { createFinder } from './finder.ts';
import { placeOrder } from './placement.ts';
import { purchaseFacts, spends } from './amounts.ts';
import { checkPolymarketOrder, polymarketGrid } from './check.ts';
import { WIRE_ORDER_TYPE, toWireOrder } from './request.ts';
import { signOrder } from './signing.ts';
import { askedOf } from './state.ts';

type Access = OrderAccess<'polymarket'>;

/** Polymarket's CLOB orders. An order's id is known before it is sent: it is the hash of the signed data. */
export function createPolymarketOrders(
  deps: AdapterDeps<PolymarketUrl | PolymarketOrderSetting>,
): PlatformOrders<'polymarket'> {
  const keys = createApiKeys(deps);
  const account = (access: Access): PolymarketAccount => createPolymarketAccount(deps, keys, access);

  async function prepare(intent: OrderIntent, access: Access): Promise<PreparedOrder> {
    const { market, terms } = intent;
    const member = account(access);
    const order = toWireOrder(intent, member.wallet);
    const exchange = exchangeOf(market, terms.outcomeIndex, deps.settings);
    const { orderId, signature } = await signOrder(order, exchange.domain, access.credential.private_key);
    const { key: owner } = await member.apiKey();
    const flags = { deferExec: false, postOnly: false };
    const orderType = WIRE_ORDER_TYPE[terms.timeInForce];
    // Keys in the order of Polymarket's own client.
    const body = JSON.stringify({ ...flags, order: { ...order, signature }, owner, orderType });
    const wire = { ...flags, order: { ...order }, orderType };
    const asked = askedOf({
      ...intent,
      orderId,
      marketRef: market.ref,
      marketId: market.platformId,
      outcome: market.outcomes[terms.outcomeIndex]?.id ?? '',
      wire,
      sentAtMs: intent.claimedAtMs,
    });
    return {
      orderId,
      wire,
      metadata: purchaseFacts(terms, order),
      place: () => placeOrder(member, { body, order, exchange, asked, market }, deps.now),
    };
  }

  return {
    platform: 'polymarket',
    needsBook: (terms) => terms.type === 'market' || spends(terms),
    balances: () => Promise.reject(new Error('no balances yet')),
    grid: polymarketGrid,
    check(market, terms) {
      exchangeOf(market, terms.outcomeIndex, deps.settings);
      checkPolymarketOrder(market, terms, deps.now());
    },
    prepare,
    ...createFinder(account, deps.now),
    cancel: (targets, access) => cancelOrders(account(access), targets),
  };
}
