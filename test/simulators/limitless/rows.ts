import { fixedText, trimmedText } from '../lib/index.ts';
import type { Level } from './book.ts';
import { lastYesPrice, twiceMid } from './floor.ts';
import { isExpired } from './lifecycle.ts';
import {
  TICKS,
  TRADE_PRICE_SCALE,
  type AmmMarket,
  type ClobMarket,
  type Group,
  type Market,
  type Trade,
} from './model.ts';
import { displayDate } from './texts.ts';

/** listing: a row of /markets/active. detail: the object asked for by slug, or nested in one. */
export type Place = 'listing' | 'detail';

export const iso = (ms: number): string => new Date(ms).toISOString();
/** JSON number of a scaled integer: the nearest double prints back as the same decimal. */
export const decimal = (value: bigint, scale: number): number => Number(trimmedText(value, scale));
export const tickNumber = (tick: number): number => decimal(BigInt(tick), 3);
/** Half ticks occur in midpoints: 945 → 0.4725. */
export const halfTickNumber = (twiceTicks: number): number => decimal(BigInt(twiceTicks) * 5n, 4);

const CREATOR = {
  name: 'Limitless',
  username: 'Limitless',
  imageURI: 'https://limitless.exchange/assets/images/logo.svg',
  link: 'https://x.com/trylimitless',
  address: '0x60e61631d9a585797cDee9f79FafDecf3bd7F64D',
};

/** A market on its own, a child asked for by its own slug included. */
export const marketRow = (market: Market, place: Place, now: number) =>
  market.kind === 'amm' ? ammRow(market, now) : clobRow(market, place, now);

function clobRow(market: ClobMarket, place: Place, now: number, isNested = false) {
  const { winningOutcome, payoutNumerators, series } = market;
  return {
    id: market.id,
    automationType: market.automationType,
    conditionId: market.conditionId,
    ...(market.group && !market.group.negRiskMarketId ? {} : { negRiskRequestId: market.negRiskRequestId }),
    description: market.description,
    groupId: market.group?.id ?? null,
    ...(place === 'detail' && !isNested && { groupSlug: market.group?.slug ?? null }),
    collateralToken: market.collateral,
    title: market.title,
    proxyTitle: null,
    expirationDate: displayDate(market.expiresAt),
    expirationTimestamp: market.expiresAt,
    createdAt: iso(market.createdAt),
    startAt: market.startAt === null ? null : iso(market.startAt),
    updatedAt: iso(market.updatedAt),
    categories: market.categories,
    status: market.status,
    expired: isExpired(market, now),
    hidden: market.hidden,
    creator: CREATOR,
    tags: market.tags,
    ...volumeOf(market.volume, 6),
    tokens: { yes: market.tokens[0], no: market.tokens[1] },
    prices: pricesOf(market),
    tradePrices: tradePricesOf(market),
    isOther: false,
    isRewardable: market.dailyRewardUsd > 0,
    slug: market.slug,
    ...(series && { stableSlug: series.stableSlug }),
    ...(series && place === 'detail' && { frequency: series.frequency, subFrequency: series.subFrequency }),
    tradeType: 'clob',
    venue: market.venue,
    marketType: isNested ? 'group' : 'single',
    ...(isNested && { orderInGroup: market.orderInGroup }),
    priorityIndex: series ? 10 : 0,
    winningOutcomeIndex: winningOutcome,
    ...(place === 'detail' && { payoutNumerators }),
    metadata: market.metadata,
    settings: settingsOf(market),
    ...images('markets-logo', market.id),
    ...(market.propertyDomain && { properties: [{ propertyKeySlug: 'domain', value: [market.propertyDomain] }] }),
    ...(series && { priceOracleMetadata: oracleOf(series.symbol) }),
  };
}

/** A group with its children nested; these say marketType "group" here and "single" when asked for directly. */
export function groupRow(group: Group, place: Place, now: number) {
  const volume = group.children.reduce((sum, child) => sum + child.volume, 0n);
  return {
    id: group.id,
    slug: group.slug,
    title: group.title,
    proxyTitle: null,
    outcomeTokens: ['Yes', 'No'],
    ogImageURI: '',
    ...images('groups-logo', group.id),
    automationType: group.automationType,
    collateralToken: group.children[0]?.collateral ?? null,
    status: groupStatus(group),
    expired: now >= group.expiresAt,
    hidden: false,
    expirationDate: displayDate(group.expiresAt),
    expirationTimestamp: group.expiresAt,
    createdAt: iso(group.createdAt),
    updatedAt: iso(group.updatedAt),
    categories: group.categories,
    tags: group.tags,
    creator: CREATOR,
    ...volumeOf(volume, 6),
    dailyReward: '0',
    tradeType: 'clob',
    marketType: 'group',
    venue: group.venue,
    ...(group.negRiskMarketId && { negRiskMarketId: group.negRiskMarketId }),
    priorityIndex: 0,
    metadata: group.metadata,
    markets: group.children.map((child) => clobRow(child, place, now, true)),
  };
}

/** FUNDED as long as one child trades. */
export function groupStatus(group: Group): string {
  const statuses = group.children.map((child) => child.status);
  if (statuses.includes('FUNDED')) return 'FUNDED';
  return statuses.every((status) => status === 'RESOLVED')
    ? 'RESOLVED'
    : (statuses.find((s) => s !== 'RESOLVED') ?? 'DRAFT');
}

/** A pool: prices in percent, token ids as an array, no book. */
function ammRow(market: AmmMarket, now: number) {
  const { decimals } = market.collateral;
  const isResolved = market.winningOutcome !== null;
  const yes = isResolved ? (market.winningOutcome === 0 ? 10_000 : 0) : market.yesPercent;
  return {
    id: market.id,
    slug: market.slug,
    address: market.address,
    conditionId: market.conditionId,
    description: market.description,
    collateralToken: market.collateral,
    title: market.title,
    proxyTitle: null,
    groupId: null,
    automationType: market.automationType,
    expirationDate: displayDate(market.expiresAt),
    expirationTimestamp: market.expiresAt,
    createdAt: iso(market.createdAt),
    updatedAt: iso(market.updatedAt),
    ...(market.isOldForm ? { category: market.categories[0] } : { categories: market.categories }),
    status: market.status,
    expired: isExpired(market, now),
    creator: { name: CREATOR.name, imageURI: CREATOR.imageURI, link: CREATOR.link },
    tags: market.tags,
    openInterest: market.openInterest.toString(),
    openInterestFormatted: fixedText(market.openInterest / 10n ** BigInt(decimals - 6), 6, 6),
    liquidity: market.liquidity.toString(),
    liquidityFormatted: fixedText(market.liquidity / 10n ** BigInt(decimals - 6), 6, 6),
    ...volumeOf(market.volume, decimals),
    tradeType: 'amm',
    marketType: 'single',
    priorityIndex: 0,
    winningOutcomeIndex: market.winningOutcome,
    prices: [decimal(BigInt(yes), 2), decimal(BigInt(10_000 - yes), 2)],
    positionIds: market.tokens,
    feedEvents: [],
  };
}

const volumeOf = (volume: bigint, decimals: number) => ({
  volume: volume.toString(),
  volumeFormatted: fixedText(volume / 10n ** BigInt(decimals - 6), 6, 6),
});

/** The plain midpoint; a book that is empty or very wide says a half, a resolved market its payout. */
function pricesOf(market: ClobMarket): [number, number] {
  if (market.status === 'RESOLVED') {
    return market.winningOutcome === null ? [0.5, 0.5] : market.winningOutcome === 0 ? [1, 0] : [0, 1];
  }
  const mid = twiceMid(market);
  return [halfTickNumber(mid), halfTickNumber(2 * TICKS - mid)];
}

/** Zeros while nothing can be traded, and meaningless values once resolved. */
function tradePricesOf(market: ClobMarket) {
  if (market.status === 'RESOLVED') return tradeQuotes([0, market.winningOutcome === 0 ? 0.01 : 1], [0, 0]);
  const { bestBid, bestAsk } = market.book;
  const [bid, noAsk] = bestBid === null ? [0, 0] : [tickNumber(bestBid), tickNumber(TICKS - bestBid)];
  const [ask, noBid] = bestAsk === null ? [0, 0] : [tickNumber(bestAsk), tickNumber(TICKS - bestAsk)];
  return tradeQuotes([ask, noAsk], [bid, noBid]);
}

const tradeQuotes = (buyMarket: number[], buyLimit: number[]) => ({
  buy: { market: buyMarket, limit: buyLimit },
  sell: { market: buyLimit, limit: buyMarket },
});

const settingsOf = (market: ClobMarket) => ({
  minSize: market.rewardMinSize.toString(),
  maxSpread: tickNumber(market.rewardMaxSpread),
  dailyReward: String(market.dailyRewardUsd),
  effectiveDailyReward: String(market.dailyRewardUsd),
  currentRewardsMultiplier: 1,
  rewardsEpoch: market.dailyRewardUsd > 0 ? '0.006944444444444444' : '0',
  c: '3',
  rebateRate: market.series ? '0.3' : '0',
  takerDelayMs: market.takerDelayMs,
  creatorFeePct: 0,
});

function images(folder: string, id: number) {
  const url = `https://cdn.limitless.exchange/${folder}/${id}/logo.png`;
  return { imageUrl: url, logo: url };
}

const oracleOf = (symbol: string) => ({
  ticker: symbol,
  assetType: 'CRYPTO',
  pythAddress: `0x${'00'.repeat(32)}`,
  chartSource: 'chainlink',
  chainlinkFeedId: `0x${'00'.repeat(32)}`,
  chainlinkFeedAddress: null,
  chainlinkPair: `${symbol}/USD`,
  chainlinkStreamUrl: `https://data.chain.link/streams/${symbol.toLowerCase()}-usd-cexprice-streams`,
  symbol: `Crypto.${symbol}/USD`,
  name: symbol,
  logo: `https://cdn.limitless.exchange/price-oracles/${symbol.toLowerCase()}.svg`,
});

/** The one book in YES terms; sizes are numbers of base units, maxSpread and minSize texts. */
export function bookBody(market: ClobMarket) {
  const last = lastYesPrice(market);
  return {
    adjustedMidpoint: halfTickNumber(twiceMid(market, market.rewardMinSize)),
    midpoint: halfTickNumber(twiceMid(market)),
    bids: levelRows(market.book.bids, 'BUY'),
    asks: levelRows(market.book.asks, 'SELL'),
    tokenId: market.tokens[0],
    lastTradePrice: last === null ? null : decimal(last, TRADE_PRICE_SCALE),
    maxSpread: trimmedText(BigInt(market.rewardMaxSpread), 3),
    minSize: market.rewardMinSize.toString(),
  };
}

const levelRows = (levels: readonly Level[], side: string) =>
  levels.map(({ tick, size }) => ({ price: tickNumber(tick), size: Number(size), side }));

/** A row of /events: no id; who hides his profile shows only the address. */
export function tradeRow(market: ClobMarket, trade: Trade) {
  const { account } = trade;
  const shown = { id: account.id, username: account.username, displayName: account.displayName };
  return {
    createdAt: iso(trade.at),
    makerAmount: trade.makerAmount.toString(),
    matchedSize: trade.size.toString(),
    price: decimal(trade.price, TRADE_PRICE_SCALE),
    profile: account.isPublic
      ? { ...shown, account: account.address, pfpUrl: null, socialUrl: null, rankName: 'Bronze' }
      : { account: account.address },
    side: trade.side === 'BUY' ? 0 : 1,
    takerAmount: trade.usd.toString(),
    title: '',
    tokenId: market.tokens[trade.outcome],
    txHash: trade.txHash,
  };
}
