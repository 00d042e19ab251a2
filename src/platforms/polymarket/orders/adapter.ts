import { systemClock } from '../../../core/time.ts';
import type { OrderAccess, OrderIntent, PlatformOrders, PreparedOrder } from '../../order-contract.ts';
import { orderRefused } from '../../failed-placement.ts';
import { Cache } from '../../../core/cache.ts';
import { PlatformError } from '../../../core/errors.ts';
import type { AdapterDeps } from '../../contract.ts';
import { createPolymarketAccount, type PolymarketAccount } from '../signed-client.ts';
import { createApiKeys } from '../api-keys.ts';
import type { PolymarketUrl } from '../manifest.ts';
import { exchangeOf, sharesAsset, type PolymarketOrderSetting } from './exchanges.ts';
import { cancelOrders } from './cancel.ts';
import { createFinder } from './finder.ts';
import { assetOf, refreshFunds, type Asset } from './funds.ts';
import { createBalanceReader } from './balances.ts';
import { adviceOf } from '../../refusal-rules.ts';
import { POLYMARKET_REJECTIONS } from './advice.ts';
import { privateChannel } from './private-socket.ts';
import { placeOrder, placeOrders, type SignedOrder } from './placement.ts';
import { isTooSmallToFill, purchaseFacts, spends } from './amounts.ts';
import { checkPolymarketOrder, polymarketGrid } from './check.ts';
import { WIRE_ORDER_TYPE, toWireOrder } from './request.ts';
import { signOrder } from './signing.ts';
import { askedOf } from './state.ts';

type Access = OrderAccess<'polymarket'>;

const MAX_ASSETS = 10_000;
/** The first order of a wallet with an asset waits for this at most. */
const FIRST_READ_MS = 1000;

/** Polymarket's CLOB orders. An order's id is known before it is sent: it is the hash of the signed data. */
export function createPolymarketOrders(
  deps: AdapterDeps<PolymarketUrl | PolymarketOrderSetting>,
): PlatformOrders<'polymarket'> {
  const keys = createApiKeys(deps);
  const account = (access: Access): PolymarketAccount => createPolymarketAccount(deps, keys, access);

  const readBalances = createBalanceReader();

  /** Assets of wallets that this process has asked the CLOB to read. */
  const read = new Cache<string, true>({ limit: MAX_ASSETS });

  /** Asks the CLOB to read a wallet's balance of an asset before the wallet first pays with it: the CLOB may remember an older one. */
  async function firstUse(member: PolymarketAccount, asset: Asset): Promise<void> {
    const name = assetOf(member, asset);
    if (read.get(name)) return;
    read.set(name, true);
    await refreshFunds(member, asset, systemClock.deadline(FIRST_READ_MS));
  }

  async function prepare(intent: OrderIntent, access: Access): Promise<PreparedOrder> {
    const { market, terms } = intent;
    const member = account(access);
    const order = toWireOrder(intent, member.wallet);
    const exchange = exchangeOf(market, terms.outcomeIndex, deps.settings);
    const { orderId, signature } = await signOrder(order, exchange.domain, access.credential.private_key);
    await member.apiKey().catch((error: unknown) => {
      throw access.guest === undefined ? refusedKey(error) : error;
    });
    const shares = sharesAsset(order.tokenId);
    await firstUse(member, terms.side === 'buy' ? { asset_type: 'COLLATERAL' } : shares);
    // A purchase adds shares: the CLOB reads them again before the next sale.
    if (terms.side === 'buy') read.delete(assetOf(member, shares));
    // Known by now; another one if the platform has just rejected it.
    const { key: owner } = await member.apiKey();
    const flags = { deferExec: false, postOnly: terms.postOnly };
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
      spends: asked.budget,
      metadata: purchaseFacts(terms, order),
      place() {
        const signed: SignedOrder = { body, postOnly: terms.postOnly, order, exchange, asked, market };
        if (access.group === undefined) return placeOrder(member, signed, deps.now);
        // Orders of one call are signed for one API key.
        return access.group.place(`${member.wallet.owner} ${owner}`, signed, (all: readonly SignedOrder[]) =>
          placeOrders(member, all, deps.now),
        );
      },
    };
  }

  return {
    needsBook: (terms) => spends(terms) || isTooSmallToFill(terms),
    balances: (market, access) => readBalances(account(access), market, access),
    grid: polymarketGrid,
    check(market, terms, tickSize = null) {
      exchangeOf(market, terms.outcomeIndex, deps.settings);
      checkPolymarketOrder(market, terms, { tickSize, nowMs: deps.now() });
    },
    prepare,
    privateChannel(access) {
      const { owner } = account(access).wallet;
      return privateChannel(deps.settings, { read: () => keys.of(access, owner), forget: () => keys.forget(owner) });
    },
    ...createFinder(account, deps.now),
    cancel: (targets, access) => cancelOrders(account(access), targets),
  };
}

/** 422 where the wallet gets no API key, with what its owner can do. */
function refusedKey(error: unknown): unknown {
  if (!(error instanceof PlatformError) || error.kind !== 'unauthorized') return error;
  return orderRefused('Polymarket gave the wallet no API key', adviceOf(POLYMARKET_REJECTIONS, error), error.detail);
}
