import type { SimMarket } from '../world/model.ts';
import { takerFee } from '../world/stats.ts';
import { usd, usdOf } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';
import type { SimAccount } from './accounts.ts';
import { ClobError } from './error.ts';
import type { SimOrder } from './order.ts';
import { CONTRACTS } from './typed-data.ts';
import { venueOf } from './rules.ts';

/** What a purchase that fills at once has to spend. */
const LEAST_SPENT = usd('1');

/** A marketable purchase of less than a dollar is refused. */
export function checkSpent(order: SimOrder): void {
  if (order.side === 'SELL' || order.usd >= LEAST_SPENT) return;
  throw new ClobError(400, `invalid amount for a marketable BUY order ($${dollars(order.usd)}), min size: $1`);
}

const dollars = (value: bigint): string => String(Number(value) / 1e6);

const short = (facts: string): ClobError => new ClobError(400, `not enough balance / allowance: ${facts}`);

/** Whether the account can pay for an order, as the CLOB has read its wallet: each market is checked by itself. */
export function checkFunds(world: PolymarketWorld, order: SimOrder, crosses: boolean): void {
  const { account, market } = order;
  const buys = order.side === 'BUY';
  const fee = buys && crosses ? takerFee(market.fee, order.price, order.shares) : 0n;
  const amount = buys ? order.usd + fee : order.shares;
  const live = liveOrders(world, account, market);
  const promised = buys
    ? committed(world, account, market)
    : live
        .filter(({ side, outcome }) => side === 'SELL' && outcome === order.outcome)
        .reduce((sum, other) => sum + other.shares - other.matched, 0n);
  const { address, allowance } =
    (buys ? account.spender : null) ??
    (account.approved[market.version]
      ? { address: '', allowance: amount }
      : { address: CONTRACTS[venueOf(market)], allowance: 0n });
  if (allowance < amount) {
    throw short(
      `the allowance is not enough -> spender: ${address}, allowance: ${allowance}, sum of matched orders: 0, order amount (inc. fees): ${amount}`,
    );
  }
  const asset = buys ? 'COLLATERAL' : (market.tokenIds[order.outcome] ?? '');
  const held = buys ? account.cash : world.held(account.wallet, market, order.outcome);
  const balance = account.unread.has(asset) ? 0n : held;
  if (promised + amount <= balance) return;
  const active = promised > 0n ? `, sum of active orders: ${promised}` : '';
  throw short(`the balance is not enough -> balance: ${balance}${active}, order amount: ${amount}`);
}

const liveOrders = (world: PolymarketWorld, account: SimAccount, market: SimMarket): SimOrder[] =>
  world
    .ordersOf(account)
    .filter((order) => order.market === market && (order.status === 'LIVE' || order.status === 'DELAYED'));

/** USD behind an account's open purchases in one market; each market is checked by itself. */
export const committed = (world: PolymarketWorld, account: SimAccount, market: SimMarket): bigint =>
  liveOrders(world, account, market)
    .filter(({ side }) => side === 'BUY')
    .reduce((sum, order) => sum + usdOf(order.price, order.shares - order.matched), 0n);
