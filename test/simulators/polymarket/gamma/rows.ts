import { decimalNumber } from '../../../../src/core/decimal.ts';
import {
  gammaCondition,
  hasBook,
  isClosed,
  type SimEvent,
  type SimMarket,
  type SimSeries,
  type SimTag,
} from '../world/model.ts';
import {
  changeOver,
  competitive,
  currentPrice,
  isClosedEvent,
  lastTrade,
  liquidity,
  volumeOver,
  WINDOWS,
} from '../world/stats.ts';
import { DAY, HOUR, noisy, ONE, priceNumber, priceText, sizeNumber, usdNumber } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** Gamma's rows, key by key as observed: numbers beside strings, JSON inside strings, keys left out instead of null. */

type Row = Record<string, unknown>;

/** ISO with microseconds, trailing zeros cut: 2025-05-02T15:04:43.762151Z. */
export const isoMicros = (ms: number, micros: number): string =>
  `${new Date(ms).toISOString().slice(0, 23)}${String(micros % 1000).padStart(3, '0')}`.replace(/\.?0+$/, '') + 'Z';
export const isoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
/** The other format: 2026-05-09 02:07:01+00. */
export const spaced = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}+00`;
const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** JSON inside a string, spaced as the platform writes it. */
const listText = (items: readonly string[]): string => `[${items.map((item) => JSON.stringify(item)).join(', ')}]`;

/** The keys that hold something; the platform leaves the others out. */
const present = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
const nonZero = (value: bigint | null): bigint | undefined => (value === null || value === 0n ? undefined : value);
const mapped = <T>(value: bigint | undefined, to: (value: bigint) => T): T | undefined =>
  value === undefined ? undefined : to(value);

export interface MarketRowOptions {
  /** Embed the parent event, as /markets does. */
  parents?: boolean;
  tags?: boolean;
}

export function marketRow(world: PolymarketWorld, market: SimMarket, options: MarketRowOptions = {}): Row {
  const { event } = market;
  const micros = world.ids.small('micros', market.id, 1000);
  const image = `https://images.example.org/${event.slug}.png`;
  return present({
    id: market.id,
    question: market.question,
    conditionId: gammaCondition(market),
    slug: market.slug,
    resolutionSource: market.legacy ? undefined : event.resolutionSource,
    endDate: isoSeconds(market.endMs),
    image,
    icon: image,
    description: market.description,
    outcomes: listText(market.outcomes),
    outcomePrices: listText(outcomePrices(world, market)),
    clobTokenIds: market.version === 'v2' ? null : market.tokenIds.length > 0 ? listText(market.tokenIds) : undefined,
    active: market.state !== 'unopened',
    closed: isClosed(market),
    archived: market.archived,
    restricted: market.legacy === null,
    marketMakerAddress: market.legacy ? world.ids.hex('maker', market.id, 40) : '',
    createdAt: isoMicros(market.createdMs, micros),
    updatedAt: isoMicros(market.updatedMs, micros * 7),
    closedTime: market.closedMs === null ? undefined : spaced(market.closedMs),
    endDateIso: date(market.endMs),
    hasReviewedDates: true,
    ready: false,
    funded: false,
    cyom: false,
    pagerDutyNotificationEnabled: false,
    approved: true,
    clearBookOnStart: true,
    manualActivation: false,
    negRiskOther: market.negRiskOther,
    umaResolutionStatuses: listText(showsUma(market) ? market.uma : []),
    pendingDeployment: false,
    deploying: false,
    rfqEnabled: false,
    holdingRewardsEnabled: false,
    feesEnabled: market.fee !== null,
    feeType: market.fee?.type ?? null,
    requiresTranslation: false,
    ...(market.legacy ? legacyKeys(market) : bookKeys(world, market)),
    events: options.parents ? [eventRow(world, event, { parent: true })] : undefined,
    tags: options.tags ? event.tags.map(tagRow) : undefined,
  });
}

const showsUma = (market: SimMarket): boolean => market.showsUma && market.version === 'v1';

function outcomePrices(world: PolymarketWorld, market: SimMarket): string[] {
  // A 2021 scalar printed 34 digits.
  if (market.legacy?.marketType === 'scalar') {
    return (market.payouts ?? []).map((payout, i) => `${priceText(payout)}${i === 0 ? '07769314663' : '92230685336'}`);
  }
  const { answer } = market;
  if (market.payouts === null && answer !== null) return market.outcomes.map((_, i) => (i === answer ? '1' : '0'));
  const first = currentPrice(world, market);
  return (market.payouts ?? [first, ONE - first]).map(priceText);
}

/** Keys of a row from before the order book; its zeros are written out. */
function legacyKeys(market: SimMarket): Row {
  const { legacy } = market;
  if (!legacy) return {};
  const zero = Object.fromEntries(Object.keys(WINDOWS).map((name) => [`volume${name}`, 0]));
  const cents = Math.round(usdNumber(legacy.volume) * 100) / 100;
  return {
    ...zero,
    category: legacy.categoryOf === 'market' ? legacy.category : undefined,
    marketType: legacy.marketType,
    lowerBound: legacy.bounds?.[0],
    upperBound: legacy.bounds?.[1],
    volume: String(usdNumber(legacy.volume)),
    volumeNum: cents,
    liquidity: '4.601742',
    liquidityNum: 4.6,
    competitive: 0,
    fpmmLive: true,
    rewardsMinSize: 0,
    rewardsMaxSpread: 0,
    spread: 1,
    oneDayPriceChange: 0,
    oneWeekPriceChange: 0,
    lastTradePrice: 0,
    bestBid: 0,
    bestAsk: 1,
  };
}

function bookKeys(world: PolymarketWorld, market: SimMarket): Row {
  const { event } = market;
  const book = world.book(market);
  const bid = book ? book.best('bid') : (market.frozen?.bid ?? null);
  const ask = book ? book.best('ask') : (market.frozen?.ask ?? null);
  const atRest = nonZero(liquidity(world, market));
  const uma = showsUma(market) ? market.uma.at(-1) : undefined;
  // A dispute leaves the end of the proposal before it.
  const hasEnd = uma === 'resolved' || uma === 'disputed';
  const ended = hasEnd && market.closedMs !== null ? isoSeconds(market.closedMs) : undefined;
  const change = (windowMs: number): number | undefined =>
    mapped(nonZero(changeOver(world, market, windowMs)), (value) => decimalNumber(value, 10));
  const last = lastTrade(market);
  const accepting = market.state === 'open' || (market.acceptingWhenClosed && isClosed(market));
  return {
    ...volumeKeys(world, market),
    liquidity: atRest === undefined ? undefined : String(usdNumber(atRest)),
    liquidityNum: mapped(atRest, usdNumber),
    liquidityClob: mapped(atRest, usdNumber),
    competitive: book ? decimalNumber(competitive(book.mid()), 10) : undefined,
    startDate: isoMicros(market.acceptingFromMs ?? market.createdMs, 340),
    startDateIso: date(market.acceptingFromMs ?? market.createdMs),
    questionID: market.questionId,
    enableOrderBook: hasBook(market) && !(market.state === 'unopened' && market.acceptingFromMs === null),
    orderPriceMinTickSize: priceNumber(market.tick),
    orderMinSize: sizeNumber(market.minSize),
    acceptingOrders: accepting,
    acceptingOrdersTimestamp: market.acceptingFromMs === null ? undefined : isoSeconds(market.acceptingFromMs),
    negRisk: event.negRisk,
    negRiskMarketID: event.negRisk ? event.negRiskMarketId : undefined,
    negRiskRequestID: event.negRisk ? world.ids.hex('request', market.id) : '',
    groupItemTitle: market.groupItemTitle ?? undefined,
    groupItemThreshold: String(event.markets.indexOf(market)),
    automaticallyActive: true,
    new: false,
    featured: false,
    umaBond: '500',
    umaReward: '5',
    umaResolutionStatus: uma,
    umaEndDate: ended,
    resolvedBy: market.state === 'resolved' ? world.ids.hex('oracle', 0, 40) : undefined,
    automaticallyResolved: market.autoClose && market.state === 'resolved' ? true : undefined,
    eventStartTime: market.eventStartMs === null ? undefined : isoSeconds(market.eventStartMs),
    gameStartTime: market.gameStartMs === null ? undefined : spaced(market.gameStartMs),
    sportsMarketType: market.sportsMarketType ?? undefined,
    line: market.line === null ? undefined : Number(market.line),
    gameId: event.gameId === null ? undefined : String(event.gameId),
    secondsDelay: market.secondsDelay || undefined,
    makerBaseFee: 1000,
    takerBaseFee: 1000,
    feeSchedule: market.fee
      ? {
          exponent: market.fee.exponent,
          rate: market.fee.rateBps / 10_000,
          takerOnly: true,
          rebateRate: market.fee.rebateBps / 10_000,
        }
      : undefined,
    rewardsMinSize: 20,
    rewardsMaxSpread: 3.5,
    spread: priceNumber((ask ?? ONE) - (bid ?? 0n)),
    bestBid: mapped(nonZero(bid), priceNumber),
    bestAsk: priceNumber(ask ?? ONE),
    lastTradePrice: last ? priceNumber(last.firstPrice) : undefined,
    oneHourPriceChange: change(HOUR),
    oneDayPriceChange: change(DAY),
    oneWeekPriceChange: change(7 * DAY),
    oneMonthPriceChange: change(30 * DAY),
    oneYearPriceChange: change(365 * DAY),
    version: market.version,
    positionIds: market.positionIds ?? undefined,
    resolutionStatus: market.version === 'v2' ? resolutionStatus(market) : undefined,
  };
}

const resolutionStatus = ({ state }: SimMarket): string =>
  state === 'resolved' ? 'resolved' : state === 'unopened' ? 'inactive' : 'active';

/** Sums of floats: every third market prints its total with 16 or 17 digits. */
function volumeKeys(world: PolymarketWorld, market: SimMarket): Row {
  if (market.volume === 0n) return {};
  const total = usdNumber(market.volume);
  const printed = market.index % 3 === 0 ? noisy(total, 3 + (market.index % 5)) : total;
  const row: Row = { volume: String(printed), volumeNum: printed, volumeClob: printed };
  for (const [name, windowMs] of Object.entries(WINDOWS)) {
    const volume = mapped(nonZero(volumeOver(world, market, windowMs)), usdNumber);
    row[`volume${name}`] = volume;
    row[`volume${name}Clob`] = volume;
  }
  return row;
}

export interface EventRowOptions {
  /** Embedded in a market: neither markets nor tags. */
  parent?: boolean;
  markets?: boolean;
}

/** The price that an up/down event asks about, and the one at its end. */
export function upDownFigures(world: PolymarketWorld, { id, markets }: SimEvent): Row | undefined {
  if (!markets.some(({ eventStartMs, gameStartMs }) => eventStartMs !== null && gameStartMs === null)) return undefined;
  const priceToBeat = 64_000 + world.ids.small('beat', id, 10_000) / 100;
  const isOver = markets.every(({ state }) => state === 'resolved');
  return { priceToBeat, ...(isOver ? { finalPrice: priceToBeat + 3119.97 } : {}), context_description: 'Up or down.' };
}

export function eventRow(world: PolymarketWorld, event: SimEvent, options: EventRowOptions = {}): Row {
  const micros = world.ids.small('micros', `event${event.id}`, 1000);
  const image = `https://images.example.org/${event.slug}.png`;
  const sum = (value: (market: SimMarket) => bigint): number =>
    usdNumber(event.markets.reduce((total, one) => total + value(one), 0n));
  const legacy = event.markets.find((market) => market.legacy)?.legacy;
  const updatedMs = Math.max(event.createdMs, ...event.markets.map((market) => market.updatedMs));
  const closed = isClosedEvent(event);
  const closedMs = Math.max(0, ...event.markets.map((market) => market.closedMs ?? 0));
  return present({
    id: event.id,
    ticker: event.slug,
    slug: event.slug,
    title: event.title,
    description: event.description,
    resolutionSource: event.resolutionSource,
    startDate: isoMicros(event.createdMs, 120),
    creationDate: isoMicros(event.createdMs, 84),
    endDate: isoSeconds(event.endMs),
    image,
    icon: image,
    active: true,
    closed,
    archived: event.archived,
    new: false,
    featured: false,
    restricted: true,
    liquidity: sum((market) => liquidity(world, market)),
    volume: sum((market) => market.legacy?.volume ?? market.volume),
    openInterest: legacy ? 0 : sum((market) => market.sets),
    createdAt: isoMicros(event.createdMs, micros),
    updatedAt: isoMicros(updatedMs, micros * 3),
    closedTime: closed ? spaced(closedMs) : undefined,
    ...Object.fromEntries(
      Object.entries(WINDOWS).map(([name, windowMs]) => [
        `volume${name}`,
        sum((market) => volumeOver(world, market, windowMs)),
      ]),
    ),
    enableOrderBook: !legacy,
    negRisk: event.negRisk,
    negRiskMarketID: event.negRisk ? event.negRiskMarketId : undefined,
    enableNegRisk: event.negRisk,
    negRiskAugmented: event.negRiskAugmented,
    commentCount: world.ids.small('comments', event.id, 400),
    cyom: false,
    showAllOutcomes: true,
    automaticallyActive: true,
    startTime: event.startTimeMs === null ? undefined : isoSeconds(event.startTimeMs),
    gameId: event.gameId ?? undefined,
    teams:
      event.teams.length > 0
        ? event.teams.map((name, i) => ({ id: 100 + i, name, league: event.sport?.sport }))
        : undefined,
    sport: event.sport ? { id: event.sport.id, sport: event.sport.sport, name: event.sport.name } : undefined,
    seriesSlug: event.series?.slug,
    series: event.series ? [seriesRow(event.series)] : undefined,
    eventMetadata: upDownFigures(world, event),
    pendingDeployment: false,
    deploying: false,
    category: legacy?.categoryOf === 'event' ? legacy.category : undefined,
    version: legacy ? undefined : event.markets.some(({ version }) => version === 'v2') ? 'v2' : 'v1',
    tags: options.parent ? undefined : event.tags.map(tagRow),
    markets:
      options.parent || options.markets === false ? undefined : event.markets.map((market) => marketRow(world, market)),
  });
}

export function tagRow(tag: SimTag): Row {
  return present({
    id: tag.id,
    label: tag.label,
    slug: tag.slug,
    forceShow: tag.forceShow,
    forceHide: tag.forceHide,
    publishedAt: tag.publishedMs === null ? undefined : spaced(tag.publishedMs),
    createdAt: '2023-11-02T21:24:31.198Z',
    updatedAt: '2026-03-09T22:32:04.396035Z',
    requiresTranslation: false,
  });
}

export const seriesRow = (series: SimSeries): Row => ({
  id: series.id,
  ticker: series.slug,
  slug: series.slug,
  title: series.title,
  seriesType: 'single',
  recurrence: series.recurrence,
  image: '',
  icon: '',
  active: true,
  closed: false,
  archived: false,
  restricted: true,
  createdAt: '2025-11-21T21:46:22.201627Z',
  updatedAt: '2026-03-11T15:13:45.415743Z',
  requiresTranslation: false,
});
