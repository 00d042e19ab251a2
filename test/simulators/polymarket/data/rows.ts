import { decimalNumber, divideHalfEven } from '../../../../src/core/decimal.ts';
import type { FeedRow } from './feed.ts';
import type { SimActivity, SimMarket, SimWallet } from '../world/model.ts';
import { averagePrice, currentValue, type SimPosition } from './positions.ts';
import { takerFee } from '../world/stats.ts';
import { noisy, priceNumber, toFourDecimals, sizeNumber, usdNumber, usdOf } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** Rows of the Data API v1, camelCase; v2 has the same facts in snake_case. */

const icon = (market: SimMarket): string => `https://images.example.org/${market.event.slug}.png`;

const marketKeys = (market: SimMarket) => ({
  title: market.question,
  slug: market.slug,
  icon: icon(market),
  eventSlug: market.event.slug,
});

const walletKeys = (wallet: SimWallet) => ({
  name: wallet.name,
  pseudonym: wallet.pseudonym,
  bio: wallet.bio,
  profileImage: wallet.profileImage,
  profileImageOptimized: '',
});

/** Prices are doubles: now and then one shows it (0.49000000000000005). */
const rowPrice = (row: FeedRow): number => {
  const value = priceNumber(row.price);
  return row.index % 41 === 7 ? noisy(value, 1) : value;
};

export const tradeRow = (row: FeedRow) => ({
  proxyWallet: row.wallet.address,
  side: row.side,
  asset: row.market.tokenIds[row.outcome] ?? '',
  conditionId: row.market.conditionId,
  size: sizeNumber(row.size),
  price: rowPrice(row),
  timestamp: row.timestamp,
  ...marketKeys(row.market),
  outcome: row.market.outcomes[row.outcome] ?? '',
  outcomeIndex: row.outcome as number,
  ...walletKeys(row.wallet),
  transactionHash: row.transactionHash,
});

/** What the wallet paid or got: price × size, a buying taker's fee on top. */
function usdcOf(row: FeedRow): bigint {
  const fee = row.taker ? takerFee(row.market.fee, row.price, row.size) : 0n;
  return usdOf(row.price, row.size) + (row.side === 'BUY' ? fee : -fee);
}

const tradeActivityRow = (row: FeedRow) => ({
  ...tradeRow(row),
  type: 'TRADE',
  usdcSize: usdNumber(usdcOf(row)),
});

/** Not a trade: no side, no outcome. */
const activityRow = (act: SimActivity) => ({
  proxyWallet: act.wallet.address,
  timestamp: act.timestamp,
  conditionId: act.market?.conditionId ?? '',
  type: act.type,
  size: sizeNumber(
    act.shares.reduce((most, one) => ((one < 0n ? -one : one) > most ? (one < 0n ? -one : one) : most), 0n),
  ),
  usdcSize: usdNumber(act.usdc),
  transactionHash: act.transactionHash,
  price: 0,
  asset: '',
  side: '',
  outcomeIndex: 999,
  ...(act.market ? marketKeys(act.market) : { title: '', slug: '', icon: '', eventSlug: '' }),
  outcome: '',
  ...walletKeys(act.wallet),
});

/** A line of a wallet's history: a trade row, or anything else it did. */
export type HistoryItem = FeedRow | SimActivity;
export const historyRow = (item: HistoryItem) => ('taker' in item ? tradeActivityRow(item) : activityRow(item));

const dollars = (exact: bigint): number => decimalNumber(toFourDecimals(exact, 16), 16);
const percent = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : decimalNumber(divideHalfEven(part * 1_000_000n, whole), 4);

/** The sums of a position, four decimals each, as both versions print them. */
export function positionSums(position: SimPosition) {
  const value = currentValue(position) * 10n ** 10n;
  return {
    size: decimalNumber(toFourDecimals(position.size, 6), 6),
    avgPrice: decimalNumber(toFourDecimals(averagePrice(position), 10), 10),
    initialValue: dollars(position.cost),
    currentValue: dollars(value),
    cashPnl: dollars(value - position.cost),
    percentPnl: percent(value - position.cost, position.cost),
    totalBought: decimalNumber(toFourDecimals(position.bought, 6), 6),
    realizedPnl: dollars(position.realized),
    percentRealizedPnl: percent(position.realized, position.cost),
    curPrice: priceNumber(position.currentPrice),
    redeemable: position.status === 'REDEEMABLE',
    mergeable: position.mergeable,
  };
}

export function positionRow(position: SimPosition) {
  const { market, outcome } = position;
  const opposite = outcome === 0 ? 1 : 0;
  return {
    proxyWallet: position.wallet.address,
    asset: market.tokenIds[outcome] ?? '',
    conditionId: market.conditionId,
    ...positionSums(position),
    grossInitialValue: dollars(position.cost + position.fees * 10n ** 10n),
    entryFeesUsdc: usdNumber(position.fees),
    title: market.question,
    slug: market.slug,
    icon: icon(market),
    eventId: market.event.id,
    eventSlug: market.event.slug,
    outcome: market.outcomes[outcome] ?? '',
    outcomeIndex: outcome as number,
    oppositeOutcome: market.outcomes[opposite] ?? '',
    oppositeAsset: market.tokenIds[opposite] ?? '',
    endDate: new Date(market.endMs).toISOString().slice(0, 10),
    negativeRisk: market.event.negRisk,
  };
}

export const closedPositionRow = (position: SimPosition) => ({ ...positionRow(position), timestamp: position.lastAt });

/** Who holds most of each token of a market. */
export function holderRows(world: PolymarketWorld, market: SimMarket, limit: number, leastShares: number) {
  return market.tokenIds.map((token, outcomeIndex) => {
    const holders = [...world.ledger.holders(market)]
      .map(([wallet, held]) => ({
        wallet: world.wallet(wallet),
        asset: token,
        outcomeIndex,
        held: held[outcomeIndex] ?? 0,
      }))
      .filter(({ held }) => held > 0 && held >= leastShares * 1e6)
      .toSorted((a, b) => b.held - a.held);
    return { token, holders: holders.slice(0, limit).map(holderRow) };
  });
}

const holderRow = (holder: { wallet: SimWallet; asset: string; outcomeIndex: number; held: number }) => ({
  proxyWallet: holder.wallet.address,
  ...walletKeys(holder.wallet),
  asset: holder.asset,
  amount: sizeNumber(BigInt(holder.held)),
  displayUsernamePublic: holder.wallet.displayUsernamePublic,
  outcomeIndex: holder.outcomeIndex,
  verified: false,
});
