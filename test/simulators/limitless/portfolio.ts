import { json, trimmedText, type SimReply, type SimRequest } from '../lib/index.ts';
import { NEG_RISK_VENUE, PLAIN_VENUE } from './catalog.ts';
import { isExpired } from './lifecycle.ts';
import { holdingOf, type HistoryEntry, type PoolHolding, type Profile } from './members.ts';
import { TRADE_PRICE_SCALE, type ClobMarket, type Outcome } from './model.ts';
import { lockedUsd, userOrderRow } from './order-rows.ts';
import { isWorking } from './orders.ts';
import { iso } from './rows.ts';
import { lastYesPrice } from './floor.ts';
import { choice, refuse, wholeNumber } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

const USDC_ID = 7;
const POOL_PRICE_SCALE = 4;
const ONE = 10n ** BigInt(TRADE_PRICE_SCALE);
const shown = (price: bigint): number => Number(trimmedText(price, TRADE_PRICE_SCALE));

/** GET /portfolio/positions, and /portfolio/{account}/positions for anybody: a stranger's portfolio is empty. */
export function positions(world: LimitlessWorld, profile: Profile | undefined): SimReply {
  const clob = profile ? marketsOf(world, profile).map((market) => positionRow(world, profile, market)) : [];
  return json(200, {
    rewards: {
      todaysRewards: '0',
      totalUnpaidRewards: '0',
      totalUserRewardsLastEpoch: '0',
      rewardsChartData: [],
      rewardsByEpoch: [],
    },
    points: '0.00000000',
    accumulativePoints: '0.00000000',
    amm: profile?.pools.map(poolRow) ?? [],
    group: [],
    clob,
  });
}

function marketsOf(world: LimitlessWorld, profile: Profile): ClobMarket[] {
  const found = new Set<ClobMarket>();
  for (const order of world.desk.ordersOf(profile)) {
    const { market } = order.intent;
    if (isWorking(order) || market.tokens.some((token) => holdingOf(profile, token).balance > 0n)) found.add(market);
  }
  return [...found];
}

/** Amounts of a pool are decimals, and its market has neither status nor winner. */
const poolRow = ({ market, outcome, shares, collateral }: PoolHolding) => ({
  market: {
    slug: market.slug,
    title: market.title,
    conditionId: market.conditionId,
    id: market.address,
    closed: market.status === 'RESOLVED',
    expirationDate: iso(market.expiresAt),
    deadline: iso(market.expiresAt),
    collateralToken: { id: market.collateral.address, ...market.collateral },
    group: {},
  },
  outcomeIndex: outcome,
  outcomeTokenAmount: trimmedText(shares, market.collateral.decimals),
  collateralAmount: trimmedText(collateral, market.collateral.decimals),
  latestTrade:
    market.trades.length === 0
      ? {}
      : {
          outcomeTokenPrice: trimmedText(
            BigInt(outcome === 0 ? market.yesPercent : 10_000 - market.yesPercent),
            POOL_PRICE_SCALE,
          ),
        },
});

/** Everything ×10^6 in texts, fillPrice included. The value is at the last trade, also of a resolved market; 0 before the first. */
function positionRow(world: LimitlessWorld, profile: Profile, market: ClobMarket) {
  const live = world.desk.ordersOf(profile).filter((order) => order.intent.market === market && isWorking(order));
  const yes = lastYesPrice(market);
  const priceOf = (outcome: Outcome): bigint => (yes === null ? 0n : outcome === 0 ? yes : ONE - yes);
  const side = (outcome: Outcome) => {
    const { balance, cost, realised } = holdingOf(profile, market.tokens[outcome]);
    const value = (balance * priceOf(outcome)) / ONE;
    return {
      cost: cost.toString(),
      fillPrice: (balance === 0n ? 0n : (cost * 1_000_000n) / balance).toString(),
      marketValue: value.toString(),
      realisedPnl: realised.toString(),
      unrealizedPnl: yes === null ? '0' : (value - cost).toString(),
    };
  };
  const balance = (outcome: Outcome): string => holdingOf(profile, market.tokens[outcome]).balance.toString();
  return {
    market: {
      id: market.id,
      slug: market.slug,
      title: market.title,
      status: market.status,
      conditionId: market.conditionId,
      address: null,
      closed: isExpired(market, world.clock.now()),
      expirationDate: iso(market.expiresAt),
      deadline: iso(market.expiresAt),
      negRiskRequestId: market.negRiskRequestId,
      winningOutcomeIndex: market.winningOutcome,
      yesPositionId: market.tokens[0],
      noPositionId: market.tokens[1],
      collateralToken: { id: USDC_ID, ...market.collateral },
      venue: { ...market.venue, operator: null },
      group: market.group ? { title: market.group.title, slug: market.group.slug } : {},
    },
    latestTrade:
      yes === null
        ? {}
        : { latestYesPrice: shown(yes), latestNoPrice: shown(ONE - yes), outcomeTokenPrice: shown(yes) },
    orders: { liveOrders: live.map(userOrderRow), totalCollateralLocked: lockedUsd(live).toString() },
    positions: { yes: side(0), no: side(1) },
    tokensBalance: { yes: balance(0), no: balance(1) },
    rewards: { isEarning: false, epochs: [] },
    makerAddress: profile.address,
  };
}

const SPENDERS = { clob: PLAIN_VENUE.exchange, negrisk: NEG_RISK_VENUE.exchange } as const;

/** GET /portfolio/trading/allowance?type=&spender=: what a contract may take of the collateral, base units. */
export function allowance(profile: Profile, { query }: SimRequest): SimReply {
  const type = choice(query, 'type', ['clob', 'negrisk'] as const);
  if (type === null) throw refuse(400, 'type must be one of the following values: clob, negrisk');
  const spender = query.get('spender') ?? SPENDERS[type];
  const amount = profile.usdcAllowances.get(spender) ?? 0n;
  const checkedAddress = profile.smartWallet ?? profile.address;
  return json(200, { allowance: amount.toString(), hasMinimumAllowance: amount > 0n, type, spender, checkedAddress });
}

/** GET /portfolio/history?cursor=&limit=&market=, and /portfolio/{account}/history for anybody: newest first; trades in decimals and seconds, settlements in base units. */
export function history(profile: Profile | undefined, { query }: SimRequest): SimReply {
  const limit = wholeNumber(query, 'limit', { or: 20, min: 1, max: 100 });
  const slug = query.get('market');
  const cursor = query.get('cursor') ?? '';
  const entries = (profile?.history ?? []).filter((entry) => slug === null || entry.market.slug === slug).toReversed();
  // The cursor counts from the oldest row, so that rows that arrive meanwhile do not shift the pages.
  const older = cursor === '' ? entries.length : Number(Buffer.from(cursor, 'base64url').toString());
  if (!Number.isSafeInteger(older) || older < 0 || older > entries.length) throw refuse(400, 'Invalid cursor');
  const first = entries.length - older;
  const left = older - limit;
  return json(200, {
    data: entries.slice(first, first + limit).map(historyRow),
    nextCursor: left > 0 ? Buffer.from(String(left)).toString('base64url') : null,
  });
}

function historyRow(entry: HistoryEntry) {
  const common = {
    blockTimestamp: Math.floor(entry.at / 1000),
    market: historyMarket(entry.market),
    outcomeIndex: entry.outcome,
  };
  if (entry.kind === 'settlement') {
    return {
      ...common,
      action: entry.pnl < 0n ? 'loss' : 'win',
      collateralAmount: trimmedText(entry.cost, 6),
      collateralSymbol: 'USDC',
      collateralToken: String(USDC_ID),
      conditionId: entry.market.conditionId,
      pnl: entry.pnl.toString(),
      title: entry.market.title,
    };
  }
  const contracts = trimmedText(entry.contracts, 6);
  const amounts = entry.outcome === 0 ? [contracts, '0'] : ['0', contracts];
  return {
    ...common,
    collateralAmount: trimmedText(entry.usd, 6),
    outcomeTokenAmount: contracts,
    outcomeTokenAmounts: amounts,
    outcomeTokenPrice: trimmedText((entry.usd * 1_000_000n) / entry.contracts, 6),
    strategy: entry.strategy,
    transactionHash: entry.txHash,
    orderId: entry.orderId,
    tradeEventId: entry.tradeEventId,
  };
}

const historyMarket = (market: ClobMarket) => ({
  closed: market.status === 'RESOLVED',
  collateral: { symbol: 'USDC', id: String(USDC_ID), decimals: 6 },
  group: market.group ? { slug: market.group.slug, title: market.group.title } : null,
  condition_id: market.conditionId,
  conditionId: market.conditionId,
  funding: '0',
  id: String(market.id),
  slug: market.slug,
  title: market.title,
  expirationDate: iso(market.expiresAt),
});
