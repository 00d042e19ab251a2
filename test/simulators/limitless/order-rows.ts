import { trimmedText } from '../lib/index.ts';
import { takerTotals } from './fees.ts';
import { lockedBy, remainingOf, type MemberOrder } from './orders.ts';
import { decimal, iso } from './rows.ts';
import type { Profile } from './members.ts';
import type { LimitlessWorld } from './world.ts';

const tickText = (tick: number): string => trimmedText(BigInt(tick), 3);

/** `created` answers POST /orders; `status` answers /orders/status/batch: some numbers are texts there. */
type Form = 'created' | 'status';

/** {order, makerMatches?, execution}: what became of an order, with its signed part repeated. */
export function orderBody(world: LimitlessWorld, order: MemberOrder, form: Form) {
  const matches = order.makerMatches.map((match) => (form === 'created' ? shortMatch(match) : longMatch(order, match)));
  return {
    order: orderRow(order, form),
    ...(matches.length > 0 && { makerMatches: matches }),
    execution: executionRow(world, order),
  };
}

function orderRow(order: MemberOrder, form: Form) {
  const { intent } = order;
  const { signed, market, profile, tick, orderType } = intent;
  const price = tick === null ? null : form === 'created' ? decimal(BigInt(tick), 3) : tickText(tick);
  return {
    createdAt: iso(order.createdAt),
    id: order.id,
    makerAmount: signed.makerAmount.toString(),
    takerAmount: signed.takerAmount.toString(),
    expiration: null,
    signatureType: signed.signatureType,
    salt: signed.salt.toString(),
    maker: signed.maker,
    signer: signed.signer,
    taker: signed.taker,
    tokenId: signed.tokenId,
    side: signed.side,
    feeRateBps: signed.feeRateBps,
    nonce: form === 'created' ? 0 : '0',
    signature: signed.signature,
    orderType,
    price,
    marketId: market.id,
    ownerId: profile.id,
    market: {
      id: market.id,
      slug: market.slug,
      title: market.title,
      status: market.status,
      yesPositionId: market.tokens[0],
      noPositionId: market.tokens[1],
    },
    ...(form === 'status' && { owner: ownerRow(profile) }),
  };
}

/** Counts fills of the resting part too: those bear no fee. */
function executionRow(world: LimitlessWorld, order: MemberOrder) {
  const { intent, taking, totals } = order;
  const resting = takerTotals(intent.side, order.filled - totals.contractsGross, order.filledUsd - totals.usdGross, 0);
  const sum = (key: keyof typeof totals): string => (totals[key] + resting[key]).toString();
  const isMined = taking !== null && taking.at + world.minedDelayMs <= world.clock.now();
  return {
    feeRateBps: intent.signed.feeRateBps,
    effectiveFeeBps: taking?.feeBps ?? 0,
    matched: order.filled > 0n,
    settlementStatus: settlementOf(order, isMined),
    ...(taking && { tradeEventId: taking.tradeEventId, txHash: isMined ? taking.txHash : null }),
    totalsRaw: {
      contractsGross: sum('contractsGross'),
      contractsFee: sum('contractsFee'),
      contractsNet: sum('contractsNet'),
      usdGross: sum('usdGross'),
      usdFee: sum('usdFee'),
      usdNet: sum('usdNet'),
    },
    ...(intent.clientOrderId !== null && { clientOrderId: intent.clientOrderId }),
    ...(order.eligibleAt !== null && order.status === 'DELAYED' && { eligibleAt: iso(order.eligibleAt) }),
    ...(order.reason !== null && { reason: order.reason }),
    ...(order.stpMakerCancels.length > 0 && { stpMakerCancels: order.stpMakerCancels }),
  };
}

function settlementOf(order: MemberOrder, isMined: boolean): string {
  if (order.trouble) return order.trouble;
  if (order.status === 'DELAYED') return 'DELAYED';
  if (order.taking !== null) return isMined ? 'MINED' : 'MATCHED';
  if (order.filled > 0n) return 'MINED';
  return order.status === 'CANCELED' || order.reason !== null ? 'CANCELED' : 'UNMATCHED';
}

const shortMatch = (match: MemberOrder['makerMatches'][number]) => ({
  id: match.id,
  matchedSize: match.size.toString(),
  orderId: match.maker.id,
  createdAt: iso(match.at),
});

/** fillPrice and fillCost are in the taker's terms, the maker's order in its own token's. */
function longMatch(order: MemberOrder, match: MemberOrder['makerMatches'][number]) {
  const { maker } = match;
  return {
    id: match.id,
    matchedSize: match.size.toString(),
    fillPrice: tickText(match.tick),
    fillCost: match.usd.toString(),
    orderId: maker.id,
    order: {
      id: maker.id,
      maker: maker.account.address,
      price: tickText(maker.tick),
      side: maker.side === 'BUY' ? 0 : 1,
      tokenId: order.intent.market.tokens[maker.outcome],
      owner: { id: maker.account.id, account: maker.account.address, username: maker.account.username },
    },
  };
}

const ownerRow = (profile: Profile) => ({
  id: profile.id,
  account: profile.address,
  client: 'eoa',
  tradeWalletOption: profile.tradeWalletOption,
  smartWallet: profile.smartWallet,
  points: 0,
  referredUsersCount: 0,
});

/** A row of /markets/{slug}/user-orders: `token`, not tokenId; the market's number as a text. */
export function userOrderRow(order: MemberOrder) {
  const { signed, market, tick, orderType, side, profile } = order.intent;
  return {
    createdAt: iso(order.createdAt),
    id: order.id,
    ownerId: profile.id,
    marketId: String(market.id),
    token: signed.tokenId,
    type: orderType,
    status: order.status,
    side,
    makerAmount: signed.makerAmount.toString(),
    takerAmount: signed.takerAmount.toString(),
    price: tick === null ? null : tickText(tick),
    originalSize: (order.size ?? 0n).toString(),
    remainingSize: remainingOf(order).toString(),
  };
}

/** GET /profiles/{address} and /profiles/me. */
export const profileRow = (profile: Profile) => ({
  id: profile.id,
  account: profile.address,
  username: profile.username,
  displayName: profile.displayName,
  pfpUrl: null,
  client: 'eoa',
  tradeWalletOption: profile.tradeWalletOption,
  smartWallet: profile.smartWallet,
  embeddedAccount: profile.embeddedAccount,
  rank: { id: 1, name: 'Bronze', feeRateBps: profile.feeRateBps },
  points: 0,
});

/** USDC base units behind the working buys of one market. */
export const lockedUsd = (orders: readonly MemberOrder[]): bigint =>
  orders.reduce((sum, order) => sum + (order.intent.side === 'BUY' ? lockedBy(order) : 0n), 0n);
