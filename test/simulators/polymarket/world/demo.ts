import { hash } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import type { SimAccount } from '../clob/accounts.ts';
import { hasBook, type SimMarket } from './model.ts';
import { HOUR, ONE, shares } from './units.ts';
import type { PolymarketWorld } from './world.ts';

/** Where the demo user trades and what it buys: some open markets, a winner, a loser, and a winner that is redeemed later. */
export function castDemoUser(markets: readonly SimMarket[]): Map<SimMarket, 0 | 1> {
  const demo = new Map<SimMarket, 0 | 1>();
  const traded = markets.filter((market) => hasBook(market) && !market.quiet && !market.archived);
  for (const market of traded.filter((one) => one.state === 'open').slice(0, 6))
    demo.set(market, demo.size % 2 ? 1 : 0);
  const paid = traded.filter((market) => market.payouts?.includes(ONE)).slice(0, 3);
  for (const [i, market] of paid.entries()) {
    const winner = market.payouts?.[0] === ONE ? 0 : 1;
    demo.set(market, i === 1 ? (winner === 0 ? 1 : 0) : winner);
  }
  return demo;
}

/** What the demo user did beside trading. */
export function playDemoUser(world: PolymarketWorld, markets: readonly SimMarket[]): void {
  const redeemed = markets.filter((market) => market.state === 'resolved')[2];
  if (redeemed) world.redeem(world.demoUser, redeemed);
  const split = markets.find((market) => market.state === 'open' && market.createdMs < world.now() - HOUR);
  if (split) world.giveShares(world.demoUser, split, shares('50'));
  world.act('REWARD', world.demoUser, null, [0n, 0n], 1_250_000n);
}

export interface DemoWallet {
  privateKey: `0x${string}`;
  /** Checksummed. */
  address: `0x${string}`;
  account: SimAccount;
}

/** A key of one's own with 10,000 pUSD and 500 shares of either outcome of the first open market. */
export function addDemoWallet(world: PolymarketWorld, seed: number): DemoWallet {
  const privateKey = `0x${hash('sha256', `demo wallet ${seed}`)}` as const;
  const account = world.addWallet({ privateKey, name: 'demo-trader' });
  const market = world.markets.find((one) => one.state === 'open' && hasBook(one) && !one.event.negRisk);
  if (market) world.giveShares(account.wallet, market, shares('500'));
  return { privateKey, address: privateKeyToAccount(privateKey).address, account };
}
