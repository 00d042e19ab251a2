import { Queue, type Rng } from '../lib/index.ts';
import type { Catalog } from './catalog.ts';
import type { ClobMarket, Market, Outcome, Series } from './model.ts';
import { lumyHtml } from './texts.ts';
import { underlyingAt, underlyingText } from './underlying.ts';

const MINUTE_MS = 60_000;
/** A recurring market stays FUNDED for minutes after its window, knows its winner after about 7 and is RESOLVED after about 20. */
const LUMY_DELAYS = { close: 3 * MINUTE_MS, announce: 7 * MINUTE_MS, resolve: 20 * MINUTE_MS };
const MANUAL_DELAYS = { close: 4 * MINUTE_MS, announce: 30 * MINUTE_MS, resolve: 60 * MINUTE_MS };

/** How a market ends: an outcome, or both paid half. */
export type Result = Outcome | 'split';

interface Timer {
  at: number;
  run(at: number): void;
}

/** Moves markets through CREATED → FUNDED → expired → CLOSED → winner known → RESOLVED as time passes. */
export class Lifecycle {
  private readonly catalog: Catalog;
  private readonly rng: Rng;
  private readonly onOpen: (market: ClobMarket) => void;
  private readonly onResolved: (market: ClobMarket, at: number) => void;
  /** Soonest first. */
  private readonly timers: Timer[] = [];
  /** Slots that came to be by themselves, oldest first. */
  readonly passing = new Queue<ClobMarket>();
  /** Grows with every change of what may be traded, and with every winner. */
  revision = 0;

  constructor(deps: {
    catalog: Catalog;
    rng: Rng;
    onOpen: (market: ClobMarket) => void;
    onResolved: (market: ClobMarket, at: number) => void;
  }) {
    this.catalog = deps.catalog;
    this.rng = deps.rng;
    this.onOpen = deps.onOpen;
    this.onResolved = deps.onResolved;
  }

  /** Lets everything due at `now` happen, in order and at its own time. */
  advance(now: number): void {
    for (let timer = this.timers[0]; timer && timer.at <= now; timer = this.timers[0]) {
      this.timers.shift();
      timer.run(timer.at);
    }
  }

  schedule(at: number, run: (at: number) => void): void {
    let low = 0;
    for (let high = this.timers.length; low < high;) {
      const middle = (low + high) >> 1;
      if ((this.timers[middle] as Timer).at <= at) low = middle + 1;
      else high = middle;
    }
    this.timers.splice(low, 0, { at, run });
  }

  /** A hidden slot that opens by itself, and brings the next one with it. */
  addSlot(series: Series, startAt: number): ClobMarket {
    const lengthMs = series.minutes * MINUTE_MS;
    const expiresAt = startAt + lengthMs;
    const slot = this.catalog.addMarket({
      title: series.title,
      slug: `${series.slugPrefix}-${startAt / 1000}`,
      description: lumyHtml(series.symbol, startAt, expiresAt, null),
      automationType: 'lumy',
      status: 'CREATED',
      hidden: true,
      createdAt: startAt - lengthMs + 1_395,
      startAt,
      expiresAt,
      categories: series.categories,
      tags: ['Lumy', 'Recurring', 'Minutely', `Minutes ${series.minutes}`],
      metadata: {
        c: 3,
        hidden: true,
        openPrice: '---',
        minutesDeadline: series.minutes,
        frequencySubType: series.subFrequency,
        chainlinkDataStream: { pair: `${series.symbol}/USD`, enabled: true },
      },
      rewardMinSize: 50_000_000n,
      dailyRewardUsd: 10,
      propertyDomain: 'crypto',
      halfSpread: 10,
      series,
    });
    this.schedule(startAt, (at) => {
      this.open(slot, at);
      this.passing.push(this.addSlot(series, expiresAt));
    });
    this.followExpiry(slot);
    return slot;
  }

  /** Ends the market at its expiry and settles it afterwards, unless somebody else did. */
  followExpiry(market: ClobMarket): void {
    const delays = market.series ? LUMY_DELAYS : MANUAL_DELAYS;
    const { expiresAt } = market;
    this.schedule(expiresAt, () => {
      if (market.expiresAt === expiresAt) this.endTrading(market);
    });
    this.schedule(expiresAt + delays.close, (at) => {
      if (market.status === 'FUNDED') this.setStatus(market, 'CLOSED', at);
    });
    this.schedule(expiresAt + delays.announce, (at) => {
      if (market.winningOutcome === null && market.status !== 'RESOLVED')
        this.announce(market, this.outcomeOf(market), at);
    });
    this.schedule(expiresAt + delays.resolve, (at) => {
      if (market.status !== 'RESOLVED') this.resolve(market, market.winningOutcome ?? 'split', at);
    });
  }

  private open(slot: ClobMarket, at: number): void {
    const series = slot.series as Series;
    const openPrice = underlyingText(series.symbol, at);
    slot.hidden = false;
    slot.metadata = { ...slot.metadata, hidden: false, openPrice, openPriceCapturedAt: new Date(at).toISOString() };
    slot.description = lumyHtml(series.symbol, at, slot.expiresAt, openPrice);
    this.setStatus(slot, 'FUNDED', at);
    this.onOpen(slot);
  }

  /** The winner is known, the status still speaks of trading or closing. */
  announce(market: ClobMarket, outcome: Outcome, at: number): void {
    market.winningOutcome = outcome;
    market.decidedAt = at;
    market.updatedAt = at;
    this.revision += 1;
  }

  /** Sports markets keep payoutNumerators null for ever. */
  resolve(market: Market, result: Result, at: number): void {
    market.winningOutcome = result === 'split' ? null : result;
    market.decidedAt ??= at;
    market.payoutNumerators =
      market.automationType === 'sports' ? null : result === 'split' ? [1, 1] : result === 0 ? [1, 0] : [0, 1];
    market.expiresAt = Math.min(market.expiresAt, at);
    if (market.kind === 'clob') this.endTrading(market);
    this.setStatus(market, 'RESOLVED', at);
    if (market.kind === 'clob') this.onResolved(market, at);
  }

  setStatus(market: Market, status: Market['status'], at: number): void {
    market.status = status;
    market.updatedAt = at;
    this.revision += 1;
  }

  /** Every order goes; the market is still FUNDED. */
  endTrading(market: ClobMarket): void {
    for (const order of market.book.remove(() => true)) order.onGone?.();
    this.revision += 1;
  }

  /** Up or Down by the oracle's prices; elsewhere as likely as the market thought. */
  private outcomeOf(market: ClobMarket): Outcome {
    const { series, startAt, expiresAt } = market;
    if (series && startAt !== null) {
      return underlyingAt(series.symbol, expiresAt) >= underlyingAt(series.symbol, startAt) ? 0 : 1;
    }
    return this.rng.chance(market.fairTick / 1000) ? 0 : 1;
  }
}

/** Not traded any more, whatever the status says. */
export const isExpired = (market: Market, now: number): boolean => now >= market.expiresAt;
