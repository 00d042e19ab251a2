import { Cache } from '../core/cache.ts';
import { decimalNumber, SIZE_SCALE } from '../core/decimal.ts';
import type { Platform } from '../core/model.ts';
import type { Balances } from '../platforms/order-contract.ts';
import type { BalancesAnswer } from '../schemas/orders.ts';
import type { OrderContext } from './context.ts';

/** The account, and the market of the outcomes; credentialId undefined = the default credential. */
export interface BalancesQuery {
  userId: string;
  platform: Platform;
  credentialId: number | undefined;
  outcomeOf: string | undefined;
}

/** Balances are answered for this long after they were read. */
const SHOWN_MS = 5000;
/** Accounts and markets whose balances are kept at a time. */
const MOST_SHOWN = 10_000;

/** Balances as they are answered, without `meta`. */
export type ShownBalances = Omit<BalancesAnswer, 'meta'>;

/** Reads balances of an account, at most once in 5 s for each market asked for; calls at the same time share one read. */
export function createBalances({ clients, market, clock, now }: OrderContext) {
  const kept = new Cache<string, ShownBalances>({ limit: MOST_SHOWN, ttlMs: SHOWN_MS, now: clock.elapsed });
  return async ({ userId, platform, credentialId, outcomeOf }: BalancesQuery): Promise<ShownBalances> => {
    const client = await clients.open(userId, platform, credentialId, 'place');
    const of = outcomeOf === undefined ? null : await market({ platform, id: outcomeOf, user: userId });
    const key = JSON.stringify([platform, client.account.credentialId, of?.ref ?? null]);
    return kept.read(key, async () => {
      // Taken before the read: the balances are never older than as_of.
      const asOf = new Date(now()).toISOString();
      return { ...shown(await client.balances(of)), as_of: asOf };
    });
  };
}

const shown = ({ balances, allowances }: Balances): Omit<ShownBalances, 'as_of'> => ({
  balances: balances.map(({ asset, total, available, reserved }) => ({
    asset,
    total: decimalNumber(total, SIZE_SCALE),
    available: decimalNumber(available, SIZE_SCALE),
    reserved: decimalNumber(reserved, SIZE_SCALE),
  })),
  allowances: allowances.map(({ asset, spender, name, amount }) => ({
    asset,
    spender,
    name,
    amount: decimalNumber(amount, SIZE_SCALE),
  })),
});
