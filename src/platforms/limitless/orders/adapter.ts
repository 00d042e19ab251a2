import { USD_SCALE, decimalNumber } from '../../../core/decimal.ts';
import { PlatformError } from '../../../core/errors.ts';
import type { OrderIntent, Placement, PlatformOrders, PreparedOrder } from '../../order-contract.ts';
import { failedPlacement } from '../../failed-placement.ts';
import type { AdapterDeps, StoredMarket } from '../../contract.ts';
import { parseBody } from '../../parse-rows.ts';
import { adviceOf } from '../../refusal-rules.ts';
import type { LimitlessUrl } from '../manifest.ts';
import { type LimitlessAccess, createAccountClient } from '../signed-client.ts';
import { cancelOrders } from './cancel.ts';
import { PRICE_GRID, checkTradable, orderAmounts } from './amounts.ts';
import { createFinder } from './finder.ts';
import { privateChannel } from './private-socket.ts';
import { OrderReads } from './reads.ts';
import { toPlatformOrder } from './state.ts';
import { type LimitlessNewOrder, toLimitlessOrder } from './request.ts';
import { LimitlessOrderState } from './rows.ts';
import { BATCH_WINDOW_MS, RECV_WINDOW_MS } from './window.ts';
import { LIMITLESS_REJECTIONS, speaksOfExchange, speaksOfProfile } from './advice.ts';
import { readBalances } from './balances.ts';
import { signOrder } from '../sign.ts';
import { SigningFacts } from './signing-context.ts';

/** The last second of the receive window is left to the network. */
const NETWORK_MS = 1000;

/** Limitless's orders: EIP-712 under the exchange contract of each market, sent with an HMAC scoped token. */
export function createLimitlessOrders(deps: AdapterDeps<LimitlessUrl>): PlatformOrders<'limitless'> {
  const account = createAccountClient(deps);
  const facts = new SigningFacts(deps, account);
  const finder = createFinder(new OrderReads(account));

  /** Sends a signed order once. If the rejection shows that signed facts were wrong, they are read again for the next order. */
  async function place(
    intent: OrderIntent,
    wire: LimitlessNewOrder,
    signature: string,
    access: LimitlessAccess,
  ): Promise<Placement> {
    // Limitless takes one order a call.
    access.group?.leave();
    const body = JSON.stringify({ ...wire, order: { ...wire.order, signature } });
    const call = {
      circuit: 'order',
      method: 'POST',
      path: '/orders',
      body,
      retry: false,
      leaveByMs: wire.timestamp + wire.recvWindow - NETWORK_MS,
    } as const;
    try {
      // Without the caller's signal: once the order may have been sent, only the answer shows the result.
      const reply = await account(call, { credential: access.credential, priority: access.priority });
      const state = parseBody('limitless', LimitlessOrderState, reply, 'orders');
      const order = toPlatformOrder(state, null, intent);
      return { result: 'accepted', httpStatus: reply.status, detail: state.execution.settlementStatus, order };
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      // The client order id or the signed order is known already, maybe from this very order.
      if (error.status === 409) return { result: 'unknown', httpStatus: 409, detail: error.detail };
      if (speaksOfExchange(error.detail)) facts.doubtExchange(intent.market);
      if (speaksOfProfile(error.detail)) facts.doubtProfile(access.credential);
      return failedPlacement('limitless', error, () => adviceOf(LIMITLESS_REJECTIONS, error));
    }
  }

  async function prepare(intent: OrderIntent, access: LimitlessAccess): Promise<PreparedOrder> {
    const { market, terms } = intent;
    const amounts = orderAmounts(terms);
    const [signatory, exchange] = await Promise.all([facts.signatory(access), facts.exchange(market, access)]);
    const recvWindow = access.group ? BATCH_WINDOW_MS : RECV_WINDOW_MS;
    const wire = toLimitlessOrder(intent, amounts, signatory, { timestamp: deps.now(), recvWindow });
    const signature = await signOrder(access.credential.private_key, wire.order, exchange);
    return {
      orderId: null,
      wire: { ...wire },
      spends: null,
      metadata: terms.side === 'buy' ? { collateral: decimalNumber(amounts.makerAmount, USD_SCALE) } : {},
      place: () => place(intent, wire, signature, access),
    };
  }

  return {
    needsBook: () => false,
    balances: (market, access) => readBalances(account, market, access),
    privateChannel: ({ credential }) => privateChannel(deps.settings, credential, deps.now),
    grid: () => PRICE_GRID,
    check(market: StoredMarket, terms) {
      checkTradable(market, terms.outcomeIndex);
      orderAmounts(terms);
    },
    prepare,
    ...finder,
    cancel: (targets, access) => cancelOrders(account, targets, access),
  };
}
