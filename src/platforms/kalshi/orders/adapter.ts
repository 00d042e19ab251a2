import { z } from 'zod';
import { PlatformError } from '../../../core/errors.ts';
import type { AdapterDeps } from '../../contract.ts';
import type { Cancellation, CancelTarget, OrderAccess, PlatformOrders } from '../../order-contract.ts';
import { isStatedNotFound, parseBody, wireSize } from '../../parse-rows.ts';
import type { KalshiUrl } from '../manifest.ts';
import { createOwnKalshi } from '../own-account.ts';
import { kalshiSigner } from '../sign.ts';
import { createKalshiAccount, type KalshiAccount } from '../signed-client.ts';
import { readBalances } from './balances.ts';
import { createFinder, SMALL_COST } from './finder.ts';
import { privateChannel } from './private-socket.ts';
import { placeOrder, WRITES } from './placing.ts';
import { checkKalshiOrder, kalshiGrid, purchaseFacts, toKalshiOrder } from './request.ts';
import { Shards } from './shards.ts';

const Cancelled = z.object({ reduced_by: wireSize });

type Access = OrderAccess<'kalshi'>;

/** Kalshi's V2 orders. Writes go to /portfolio/events/orders; reads stayed at /portfolio/orders (finder.ts). */
export function createKalshiOrders(deps: AdapterDeps<KalshiUrl>): PlatformOrders<'kalshi'> {
  const account = (access: Access): KalshiAccount => createKalshiAccount(deps, access);
  const finder = createFinder(account, deps.now);
  const shards = new Shards();
  const { find, get, list } = finder;

  async function cancelIn(
    subaccount: number | null,
    { orderId, marketRef }: CancelTarget,
    access: Access,
  ): Promise<Cancellation> {
    const where = new URLSearchParams({ market_ticker: marketRef });
    if (subaccount !== null) where.set('subaccount', String(subaccount));
    const path = `${WRITES}/${encodeURIComponent(orderId)}?${where}`;
    try {
      const reply = await account(access).send('DELETE', path, null, SMALL_COST);
      const { reduced_by: reducedBy } = parseBody('kalshi', Cancelled, reply, WRITES);
      if (reducedBy > 0n) return { result: 'cancelled', httpStatus: reply.status, detail: '' };
      return { result: 'not_open', httpStatus: reply.status, detail: 'reduced_by: 0' };
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind === 'unauthorized') throw error;
      const result = isStatedNotFound(error) ? 'not_open' : 'unconfirmed';
      return { result, httpStatus: error.status, detail: error.detail };
    }
  }

  /** Without a number Kalshi looks in the main account, or in the subaccount that the key is locked to, which takes no number. */
  async function cancelOne(target: CancelTarget, access: Access): Promise<Cancellation> {
    const cancelled = await cancelIn(null, target, access);
    const { subaccount } = target.metadata ?? {};
    if (cancelled.result !== 'not_open' || typeof subaccount !== 'number') return cancelled;
    return cancelIn(subaccount, target, access).catch((error: unknown) => {
      if (error instanceof PlatformError) return cancelled;
      throw error;
    });
  }

  return {
    needsBook: () => false,
    balances: (market, access) => readBalances(account(access), market, access, finder),
    ownAccount: {
      idOf: (credential) => credential.api_key_id,
      open: (access) => createOwnKalshi(account(access), access, deps.now),
    },
    privateChannel: ({ credential }) => privateChannel(deps.settings, kalshiSigner(credential, deps.now)),
    grid: kalshiGrid,
    check: checkKalshiOrder,

    async prepare(intent, access) {
      const wire = toKalshiOrder(intent, shards.of(intent.market));
      // Parses the key, so that an unusable one is noticed before anything is stored or sent.
      const member = account(access);
      return {
        orderId: null,
        wire: { ...wire },
        spends: null,
        metadata: purchaseFacts(intent.terms),
        place: () => placeOrder({ intent, wire }, member, access, { finder, shards }),
      };
    },

    find,
    get,
    list,
    cancel: (targets, access) => Promise.all(targets.map((target) => cancelOne(target, access))),
  };
}
