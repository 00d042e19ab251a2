import { createRng, scaledInteger } from '../lib/index.ts';
import { Account, type AccountOrder } from './account.ts';
import { createKeyPair } from './auth.ts';
import type { OrderDesk } from './desk.ts';
import type { Trader } from './traders.ts';
import { countText, priceText, usdText } from './units.ts';

export interface MemberOptions {
  /** Kind of key to make; default ed25519, as the web app does. */
  keyType?: 'ed25519' | 'rsa';
  /** Default read and write. */
  scopes?: readonly string[];
  /** The subaccount that the key is locked to; default none. */
  lockedTo?: number;
  /** Dollars on each shard, or by shard; default "1000". */
  balance?: string | Partial<Record<0 | 1 | 2 | 3, string>>;
  /** Shown beside its trades on the social endpoints; default private. */
  nickname?: string;
}

/** An account as a test or the demo holds it. */
export interface Member {
  userId: string;
  apiKeyId: string;
  /** PKCS#8; '' when the key was made elsewhere. */
  privateKeyPem: string;
  nickname: string;
}

/** What is true of an order; decimal texts, fees in dollars. */
export interface TrueOrder {
  orderId: string;
  clientOrderId: string;
  ticker: string;
  side: 'bid' | 'ask';
  yesPrice: string;
  timeInForce: string;
  status: 'resting' | 'canceled' | 'executed';
  initialCount: string;
  fillCount: string;
  remainingCount: string;
  fees: string;
  expirationMs: number | null;
  fills: { tradeId: string; yesPrice: string; count: string; isTaker: boolean; fee: string }[];
}

export function addMember(desk: OrderDesk, options: MemberOptions): Member {
  const { exchange } = desk;
  const rng = createRng(exchange.seed + exchange.traders.length).fork('member');
  const trader: Trader = {
    index: exchange.traders.length,
    nickname: options.nickname ?? '',
    socialId: rng.uuid(),
    visibility: options.nickname === undefined ? 'private' : 'public',
    joinedMs: exchange.nowMs,
    description: '',
  };
  exchange.traders.push(trader);
  const account = new Account(rng.uuid(), trader.index);
  const { balance = '1000' } = options;
  for (const shard of [0, 1, 2, 3] as const) {
    const text = typeof balance === 'string' ? balance : (balance[shard] ?? '0');
    const cash = scaledInteger(text, 6);
    if (cash === null) throw new RangeError(`balance must be a decimal of dollars, got ${text}`);
    account.cash.set(shard, cash);
  }
  const pair = createKeyPair(options.keyType ?? 'ed25519');
  const apiKeyId = rng.uuid();
  account.keys.push({
    id: apiKeyId,
    publicKey: pair.publicKey,
    scopes: options.scopes ?? ['read', 'write'],
    lockedTo: options.lockedTo ?? null,
  });
  desk.accounts.push(account);
  return { userId: account.userId, apiKeyId, privateKeyPem: pair.privateKeyPem, nickname: trader.nickname };
}

export function trueOrder(desk: OrderDesk, order: AccountOrder): TrueOrder {
  return {
    orderId: order.orderId,
    clientOrderId: order.clientOrderId,
    ticker: order.market.ticker,
    side: order.side,
    yesPrice: priceText(order.price),
    timeInForce: order.timeInForce,
    status: order.status,
    initialCount: countText(order.initialCount),
    fillCount: countText(order.fillCount),
    remainingCount: countText(order.remainingCount),
    fees: usdText(order.takerFees + order.makerFees),
    expirationMs: order.expirationMs,
    fills: order.fills.map((fill) => ({
      tradeId: desk.exchange.tape.id(fill.position),
      yesPrice: priceText(fill.price),
      count: countText(fill.count),
      isTaker: fill.isTaker,
      fee: usdText(fill.fee),
    })),
  };
}
