import {
  ONE_PRICE,
  type Price,
  SIZE_SCALE,
  USD_SCALE,
  type Usd,
  decimalNumber,
  divideHalfEven,
  midpoint,
  parsePrice,
} from '../../core/decimal.ts';
import type { JsonObject, MarketInfo, MarketRecord, MarketState, MarketStatus, Quote } from '../../core/model.ts';
import { categorySlug } from '../categories.ts';
import {
  UNKNOWN_QUOTE,
  WINDOW_MS,
  binaryPayouts,
  complementQuote,
  htmlToText,
  isoFromEpoch,
  isoTime,
  quotedPrice,
  yesNoOutcomes,
  youngMarketVolume,
} from '../market-fields.ts';
import { type ParsedRow, isStorable } from '../parse-rows.ts';
import { categorize, limitlessPage, mapLimitlessEvent, mapLimitlessSeries, textOf } from './event.ts';
import { oracleSymbol, strikeOf } from './strike.ts';
import type { LimitlessGroup, LimitlessMarket } from './wire.ts';

const TICK_SIZE = 0.001;
/** With a wider spread the midpoint is a poor estimate: it is flagged, not hidden. */
const WIDE_SPREAD = parsePrice('0.2');

const STATUSES: Readonly<Record<string, MarketStatus>> = {
  CREATED: 'unopened',
  DRAFT: 'unopened',
  DRAFTED: 'unopened',
  PENDING: 'unopened',
  FUNDED: 'open',
  FUNDED_FLAGGED: 'open',
  LOCKED: 'paused',
  CLOSED: 'closed',
  RESOLVED: 'settled',
};
/** Rows of 2024 have `MarketStatus.FUNDED`. */
const statusWord = (status: string): string => status.replace(/^MarketStatus\./, '');
export const isKnownStatus = (status: string): boolean => Object.hasOwn(STATUSES, statusWord(status));

/**
 * Expired markets stay FUNDED for minutes and LOCKED for longer: they are closed. Where `expired` is unknown, the time of the end
 * decides. An unknown status counts as closed.
 */
function limitlessStatus(
  market: Pick<LimitlessMarket, 'status' | 'expired' | 'expirationTimestamp'>,
  fetchedAt: string,
): MarketStatus {
  const status = isKnownStatus(market.status) ? (STATUSES[statusWord(market.status)] ?? 'closed') : 'closed';
  const end = isoFromEpoch(market.expirationTimestamp);
  const isOver = market.expired ?? (end !== null && end <= fetchedAt);
  return isOver && (status === 'open' || status === 'paused') ? 'closed' : status;
}

/** Rows of 2024 have no trade type. */
const isAmm = ({ tradeType, tokens, address }: LimitlessMarket): boolean =>
  tradeType ? tradeType === 'amm' : !tokens && !!address;

/** Whether amounts are in USDC: pools of 2024 may be in WETH, books are not. */
const isUsdc = (market: LimitlessMarket): boolean => {
  const { symbol = '', decimals } = market.collateralToken ?? {};
  return symbol === '' ? !isAmm(market) && (decimals ?? USD_SCALE) === USD_SCALE : symbol === 'USDC';
};

/** Base units of the collateral as USD; null if the collateral is not USDC. */
function toUsd(market: LimitlessMarket, baseUnits: bigint | null | undefined): Usd | null {
  const token = market.collateralToken;
  if (baseUnits === null || baseUnits === undefined || !isUsdc(market)) return null;
  const usd = divideHalfEven(baseUnits * 10n ** BigInt(USD_SCALE), 10n ** BigInt(token?.decimals ?? USD_SCALE));
  return isStorable(usd) ? usd : null;
}

type Result = Pick<LimitlessMarket, 'payoutNumerators' | 'winningOutcomeIndex'>;

/** Payout of one Yes contract; sports markets resolve without numerators, a 50-50 without a winner. */
export function yesPayout({ payoutNumerators, winningOutcomeIndex: winner }: Result): Price | null {
  const [yes, no] = payoutNumerators ?? [];
  if (yes !== undefined && no !== undefined && yes >= 0n && no >= 0n && yes + no > 0n) {
    return divideHalfEven(yes * ONE_PRICE, yes + no);
  }
  if (winner === 0) return ONE_PRICE;
  return winner === 1 ? 0n : null;
}

/** Whether the row of a resolved market may lack its result: rows of a list have no payouts, which alone decide a 50-50. */
export const mayLackResult = (market: LimitlessMarket): boolean =>
  statusWord(market.status) === 'RESOLVED' && market.payoutNumerators === undefined && yesPayout(market) === null;

/** Whether the market has a book to read. */
const quotable = (status: MarketStatus): boolean => status === 'open' || status === 'paused';

function firstQuote(market: LimitlessMarket, status: MarketStatus): Quote {
  if (status === 'unopened') return UNKNOWN_QUOTE;
  if (status === 'settled') return { price: yesPayout(market), bid: null, ask: null };
  if (isAmm(market)) {
    const percent = market.prices?.[0] ?? null;
    return { price: percent === null ? null : divideHalfEven(percent, 100n), bid: null, ask: null };
  }
  // The remaining book of a closed market does not price it: the last trade does.
  if (status === 'closed') return UNKNOWN_QUOTE;
  const bid = quotedPrice(market.tradePrices?.sell?.market?.[0]);
  const ask = quotedPrice(market.tradePrices?.buy?.market?.[0]);
  // `prices` contains 0 or 1 for an empty side: the midpoint would not be a price of any order.
  return { price: midpoint(bid, ask), bid, ask };
}

/** A gap in the title of a group: some have two underscores, most three. */
const GAP = /_{2,}/g;

/** Children have titles such as "25" or "Draw": it fills every gap of the group's title, or follows it. */
function title(market: LimitlessMarket, group: LimitlessGroup | null): string {
  return group ? filledTitle(group.title, titleInGroup(market, group)) : market.title;
}

/** The title of a group with the one of its child. */
export function filledTitle(group: string, child: string): string {
  if (group === '') return child;
  const filled = group.replaceAll(GAP, () => child);
  return filled === group ? `${group}: ${child}` : filled;
}

/** The title of a child, with its slug where another child of the group has the same one. */
function titleInGroup({ title, slug }: LimitlessMarket, group: LimitlessGroup): string {
  const own = title.trim();
  if (own === '') return slug;
  const namesakes = group.markets.filter((child) => textOf(child, 'title')?.trim() === own);
  const slugs = new Set(namesakes.flatMap((child) => textOf(child, 'slug') ?? []));
  return slugs.size > 1 && slugs.has(slug) ? `${own} (${slug})` : own;
}

/** An absent key is unknown: the published fees, or a delay, may apply. */
const feeOf = ({ metadata, settings }: LimitlessMarket): JsonObject => ({
  ...(typeof metadata?.fee === 'boolean' ? { enabled: metadata.fee } : {}),
  ...(typeof settings?.takerDelayMs === 'number' ? { taker_delay_ms: settings.takerDelayMs } : {}),
});

function infoMetadata(market: LimitlessMarket, group: LimitlessGroup | null, listedStrike?: string): JsonObject {
  const amm = isAmm(market);
  const [yes, no] = tokenIds(market);
  const { symbol, decimals } = market.collateralToken ?? (amm ? {} : { symbol: 'USDC', decimals: USD_SCALE });
  const child = group !== null || typeof market.groupId === 'number';
  return {
    volume_basis: isUsdc(market) ? 'usd' : 'raw',
    ...(amm ? { ...(isUsdc(market) ? { open_interest_basis: 'usd' } : {}), trade_type: 'amm' } : {}),
    ...(amm && market.address ? { address: market.address } : {}),
    ...(yes && no ? { token_ids: { yes, no } } : {}),
    ...(market.conditionId ? { condition_id: market.conditionId } : {}),
    tick_size: TICK_SIZE,
    neg_risk: Boolean(group?.negRiskMarketId ?? market.negRiskRequestId),
    collateral: symbol || (isUsdc(market) ? 'USDC' : null),
    ...(decimals === USD_SCALE ? {} : { collateral_decimals: decimals ?? null }),
    fee: feeOf(market),
    ...(market.settings?.minSize ? { rewards_min_size: decimalNumber(market.settings.minSize, SIZE_SCALE) } : {}),
    ...(child ? { group_item_title: market.title } : {}),
    ...(typeof market.orderInGroup === 'number' ? { order_in_group: market.orderInGroup } : {}),
    ...strikeOf(market, listedStrike),
    ...(oracleSymbol(market) ? { oracle: { symbol: oracleSymbol(market) } } : {}),
    ...externalNames(market.metadata?.externalSlug ? market.metadata : group?.metadata),
  };
}

/** The market or event of another platform that a market or group copies. */
const externalNames = (copy: LimitlessMarket['metadata']): JsonObject =>
  copy?.externalSlug
    ? {
        external_slug: copy.externalSlug,
        ...(copy.externalProvider ? { external_provider: copy.externalProvider } : {}),
        ...(copy.polymarketSeriesId ? { polymarket_series_id: copy.polymarketSeriesId } : {}),
      }
    : {};

const tokenIds = (market: LimitlessMarket): [yes: string, no: string] => [
  market.tokens?.yes ?? market.positionIds?.[0] ?? '',
  market.tokens?.no ?? market.positionIds?.[1] ?? '',
];

function toInfo(market: LimitlessMarket, group: LimitlessGroup | null, listedStrike?: string): MarketInfo {
  const groupSlug = group?.slug || market.groupSlug || market.metadata?.groupSlug || '';
  const description = htmlToText(market.description);
  const { category, subcategory } = categorize(market, group, market.priceOracleMetadata?.assetType ?? '');
  const createdAt = isoTime(market.createdAt);
  const end = isoFromEpoch(market.expirationTimestamp);
  return {
    platform: 'limitless',
    ref: market.slug,
    platformId: market.slug,
    title: title(market, group),
    marketType: 'binary',
    outcomes: yesNoOutcomes(...tokenIds(market)),
    eventId: groupSlug || (market.groupId ? String(market.groupId) : ''),
    eventName: group?.title ?? '',
    seriesId: market.stableSlug ?? '',
    slug: market.slug,
    description,
    category,
    categorySlug: categorySlug(category),
    subcategory,
    tags: [...new Set([...(market.categories ?? []), ...(market.tags ?? [])])],
    sourceUrl: limitlessPage(groupSlug || market.slug),
    imageUrl: market.imageUrl || market.logo || group?.imageUrl || group?.logo || '',
    createdAt,
    tradingStartAt: isoTime(market.startAt) ?? createdAt,
    tradingEndAt: end,
    resolutionDate: end,
    resolutionCriteria: description,
    resolutionSource:
      market.priceOracleMetadata?.chainlinkStreamUrl || market.metadata?.chainlinkDataStream?.streamUrl || '',
    metadata: infoMetadata(market, group, listedStrike),
  };
}

/** What a pool holds; a book has to be read. Nothing rests in a market that does not trade. */
function liquidityOf(market: LimitlessMarket, status: MarketStatus): Usd | null {
  const pooled = isAmm(market) ? toUsd(market, market.liquidity) : null;
  return pooled ?? (quotable(status) ? null : 0n);
}

function stateMetadata(market: LimitlessMarket, first: Quote, settled: boolean): JsonObject {
  const result = market.winningOutcomeIndex === 0 ? 'yes' : 'no';
  const decided = market.winningOutcomeIndex === 0 || market.winningOutcomeIndex === 1;
  const wide = first.bid !== null && first.ask !== null && first.ask - first.bid > WIDE_SPREAD;
  return {
    liquidity_basis: isAmm(market) && toUsd(market, market.liquidity) !== null ? 'amm' : 'none',
    ...(wide ? { wide_book: true } : {}),
    ...(decided ? { result } : {}),
    ...(settled ? { payouts: first.price === null ? {} : binaryPayouts(first.price) } : {}),
    ...(isUsdc(market) || market.volume === null || market.volume === undefined
      ? {}
      : { volume_raw: String(market.volume) }),
  };
}

function toState(market: LimitlessMarket, startedAt: string | null, fetchedAt: string): MarketState {
  const status = limitlessStatus(market, fetchedAt);
  const first = firstQuote(market, status);
  const total = toUsd(market, market.volume);
  const young = (windowMs: number) => youngMarketVolume(total, startedAt, fetchedAt, windowMs);
  return {
    status,
    resolvedAt: status === 'settled' ? isoTime(market.updatedAt) : null,
    quotes: [first, complementQuote(first)],
    volume24h: young(WINDOW_MS['24h']),
    volume7d: young(WINDOW_MS['7d']),
    volume30d: young(WINDOW_MS['30d']),
    volume1y: young(WINDOW_MS['1y']),
    volumeTotal: total,
    liquidity: liquidityOf(market, status),
    openInterest: isAmm(market) ? toUsd(market, market.openInterest) : null,
    priceChange24h: null,
    priceChange7d: null,
    metadata: stateMetadata(market, first, status === 'settled'),
  };
}

/**
 * A Limitless market; `group` is the row that contains it, `listedStrike` its strike in the list of slugs. Volumes are USD; liquidity of an
 * order book market needs its book.
 */
export function mapLimitlessMarket(
  market: ParsedRow<LimitlessMarket>,
  group: ParsedRow<LimitlessGroup> | null,
  fetchedAt: string,
  listedStrike?: string,
): MarketRecord {
  const info = toInfo(market.row, group?.row ?? null, listedStrike);
  const series = mapLimitlessSeries(market.row);
  const groupRaw = group ? Object.fromEntries(Object.entries(group.raw).filter(([key]) => key !== 'markets')) : null;
  return {
    info,
    state: toState(market.row, info.tradingStartAt ?? info.createdAt, fetchedAt),
    raw: { market: market.raw, ...(groupRaw ? { group: groupRaw } : {}) },
    fetchedAt,
    ...(group ? { event: mapLimitlessEvent(group.row) } : {}),
    ...(!group && info.eventId !== '' ? { lacksEvent: true } : {}),
    ...(series ? { series } : {}),
    // Trades with a pool are not read.
    ...(isAmm(market.row) ? {} : { fromTrades: { volumes: 'market' } }),
  };
}
