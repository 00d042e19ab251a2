import type { SimClock } from '../simulator.ts';
import { castEvent, casting, lifeOf, type Casting } from './catalogue.ts';
import { Exchange } from './exchange.ts';
import { growHistory } from './history.ts';
import { KINDS } from './kinds.ts';
import { advance, determine, finalize } from './lifecycle.ts';
import type { MarketSpec, SimMarket } from './market.ts';
import type { SeriesSpec } from './series.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, ONE_DOLLAR } from './units.ts';

export interface BuildOptions {
  seed: number;
  clock: SimClock;
  markets: number;
  tradesPerMarket: number;
  historyDays: number;
  keptTrades: number;
  /** Days of live data; older settlements and trades are in the historical tier. */
  cutoffDays: number;
}

/** Grows an exchange with its past. */
export function buildExchange(options: BuildOptions): Exchange {
  const nowMs = Math.floor(options.clock.now());
  const cutoffMs = Math.floor((nowMs - options.cutoffDays * DAY_MS) / DAY_MS) * DAY_MS;
  const exchange = new Exchange({ clock: options.clock, seed: options.seed, cutoffMs });
  const rng = exchange.rng.fork('catalogue');
  const seen = new Map<string, number>();
  const untraded = new Set<SimMarket>();
  const unquoted = new Set<SimMarket>();
  for (const cast of casting(options.markets)) {
    const count = seen.get(cast.kind) ?? 0;
    seen.set(cast.kind, count + 1);
    const { series: choices } = KINDS[cast.kind];
    const life = lifeOf(cast.kind, cast.phase, rng, { nowMs, cutoffMs, historyDays: options.historyDays });
    const made = castEvent(
      {
        kind: cast.kind,
        series: choices[count % choices.length] as SeriesSpec,
        former: cast.phase === 'archived',
        size: cast.size,
        legs: cast.kind === 'combo' ? exchange.legs(cast.phase === 'open' ? 'active' : 'finalized') : [],
        ...life,
      },
      rng,
      exchange.eventByTicker,
    );
    made.markets.forEach((market, at) => adjust(market, at, cast, nowMs));
    if (cast.kind === 'game' && cast.phase === 'settled') made.markets.forEach(tie);
    const { markets } = exchange.addEvent(made);
    markets.forEach((market, at) => {
      enterPhase(exchange, market, at, cast);
      if (cast.phase !== 'open') return;
      if (cast.kind === 'chart' && at === 1) untraded.add(market);
      if (market.spec.provisional) untraded.add(market);
      if (cast.kind === 'rate' && at === 2) unquoted.add(market);
    });
  }
  growHistory(exchange, { ...options, untraded, unquoted });
  exchange.settle(options.keptTrades);
  advance(exchange);
  return exchange;
}

/** Gives some markets what only their phase explains. */
function adjust(market: MarketSpec, at: number, { kind, phase }: Casting, nowMs: number): void {
  if (phase === 'closed') market.plan.lagMs = 38 * HOUR_MS;
  if (phase === 'determined') {
    market.plan.lagMs = nowMs - 5 * MINUTE_MS - market.closeMs;
    market.plan.timerMs = HOUR_MS;
    market.fixed.settlement_timer_seconds = HOUR_MS / 1000;
  }
  if (kind === 'mention' && phase === 'open' && at === 2) market.provisional = true;
  if (isWithdrawn(kind, phase, at)) {
    market.closeMs = Math.floor((market.openMs + nowMs) / 2);
    market.plan = { ...market.plan, result: 'no', value: 0, expirationValue: 'Withdrawn', lagMs: 122_000 };
  }
}

/** Settled games end undecided: a binary market that pays both sides half. */
function tie(market: MarketSpec): void {
  market.plan = { ...market.plan, result: 'scalar', value: ONE_DOLLAR / 2, expirationValue: 'Tie' };
}

/** One candidate of an open election is out already: its market is paid out among active ones. */
const isWithdrawn = (kind: string, phase: string, at: number): boolean =>
  kind === 'election' && phase === 'open' && at === 4;

/** Puts a market where its event's phase has it, as if the clock had done so. */
function enterPhase(exchange: Exchange, market: SimMarket, at: number, { kind, phase }: Casting): void {
  const { plan } = market.spec;
  if (phase === 'future') return;
  market.updatedUs = market.openMs * 1000 + 801_802;
  if (phase === 'open' && !isWithdrawn(kind, phase, at)) {
    market.status = 'active';
    return;
  }
  if (phase === 'paused') {
    market.status = 'inactive';
    return;
  }
  market.status = kind === 'game' && phase === 'closed' && at === 1 ? 'disputed' : 'closed';
  market.updatedUs = market.closeMs * 1000;
  if (phase === 'closed') return;
  determine(exchange, market, plan.result, plan.value, market.closeMs + plan.lagMs);
  if (phase !== 'determined') finalize(exchange, market, market.closeMs + plan.lagMs + plan.timerMs);
}
