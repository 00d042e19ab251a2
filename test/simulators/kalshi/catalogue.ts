import type { Rng } from '../lib/index.ts';
import type { Leg, MarketDraft } from './kind.ts';
import { KINDS, type KindName } from './kinds.ts';
import type { MarketSpec } from './market.ts';
import type { FeeType, SeriesSpec } from './series.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, timeText } from './units.ts';

/** Where in its life an event stands when the world begins. */
type Phase = 'future' | 'open' | 'paused' | 'closed' | 'determined' | 'settled' | 'archived';

/** How long a coin market trades; short, so that a watcher sees markets come, close and settle. */
export const COIN_LIFE_MS = 5 * MINUTE_MS;

export interface EventSpec {
  ticker: string;
  series: SeriesSpec;
  combo: boolean;
  createdUs: number;
  /** Every key of the wire object but the markets. */
  fixed: Record<string, unknown>;
  /** The event's own where it overrides the series'. */
  feeType: FeeType;
  feeMultiplier: number;
}

export interface Casting {
  kind: KindName;
  phase: Phase;
}

/** The first events of every world: each status, each trap of the wire format at least once within 48 markets. */
const CAST: readonly Casting[] = [
  { kind: 'weather', phase: 'open' },
  { kind: 'game', phase: 'open' },
  { kind: 'coin', phase: 'settled' },
  { kind: 'rate', phase: 'archived' },
  { kind: 'election', phase: 'open' },
  { kind: 'mention', phase: 'future' },
  { kind: 'chart', phase: 'open' },
  { kind: 'chart', phase: 'paused' },
  { kind: 'game', phase: 'closed' },
  { kind: 'coin', phase: 'determined' },
  { kind: 'weather', phase: 'settled' },
  { kind: 'game', phase: 'settled' },
  { kind: 'index', phase: 'settled' },
  { kind: 'rate', phase: 'open' },
  { kind: 'coin', phase: 'open' },
  { kind: 'game', phase: 'archived' },
  { kind: 'index', phase: 'open' },
  { kind: 'weather', phase: 'archived' },
  { kind: 'mention', phase: 'open' },
];

/** What follows in larger worlds, over and over. */
const REPEATED: readonly Casting[] = [
  { kind: 'weather', phase: 'open' },
  { kind: 'game', phase: 'open' },
  { kind: 'election', phase: 'open' },
  { kind: 'weather', phase: 'settled' },
  { kind: 'mention', phase: 'open' },
  { kind: 'game', phase: 'archived' },
  { kind: 'rate', phase: 'open' },
  { kind: 'chart', phase: 'open' },
  { kind: 'game', phase: 'settled' },
  { kind: 'weather', phase: 'archived' },
];

/** Which events a world of `markets` markets has, combos last: one market in twelve. */
export function* casting(markets: number): Generator<Casting & { size: number }> {
  const combos = Math.floor(markets / 12);
  let left = markets - combos;
  for (let at = 0; left > 0; at++) {
    const next = (CAST[at] ?? REPEATED[(at - CAST.length) % REPEATED.length]) as Casting;
    const size = Math.min(left, KINDS[next.kind].size);
    left -= size;
    yield { ...next, size };
  }
  for (let at = 0; at < combos; at++) yield { kind: 'combo', phase: at % 3 === 2 ? 'settled' : 'open', size: 1 };
}

export interface Times {
  nowMs: number;
  cutoffMs: number;
  historyDays: number;
}

const minute = (ms: number): number => Math.round(ms / MINUTE_MS) * MINUTE_MS;

/** Opening and closing time of an event of a phase. */
export function lifeOf(kind: KindName, phase: Phase, rng: Rng, times: Times): { openMs: number; closeMs: number } {
  const { nowMs, cutoffMs, historyDays } = times;
  const span = kind === 'coin' ? COIN_LIFE_MS : Math.max(2 * HOUR_MS, Math.round(historyDays * DAY_MS * rng.next()));
  if (phase === 'future') return { openMs: minute(nowMs + 6 * HOUR_MS), closeMs: minute(nowMs + 3 * DAY_MS) };
  if (phase === 'open' || phase === 'paused') {
    const left = kind === 'coin' ? COIN_LIFE_MS - 2 * MINUTE_MS : HOUR_MS * rng.int(12, 60 * 24);
    return { openMs: minute(kind === 'coin' ? nowMs - 2 * MINUTE_MS : nowMs - span), closeMs: minute(nowMs + left) };
  }
  const recent = Math.max(HOUR_MS, nowMs - cutoffMs - 12 * HOUR_MS);
  const ago = {
    closed: HOUR_MS,
    determined: 2 * HOUR_MS,
    settled: 7 * HOUR_MS + recent * 0.8 * rng.next(),
    archived: 0,
  };
  const archivedMs = cutoffMs - 4 * HOUR_MS - Math.max(HOUR_MS, historyDays * DAY_MS - (nowMs - cutoffMs)) * rng.next();
  const closeMs = minute(phase === 'archived' ? archivedMs : nowMs - ago[phase]);
  return { openMs: closeMs - minute(span), closeMs };
}

/** An event and its markets, worded and dated. `taken` keeps tickers unique. */
export function castEvent(
  options: {
    kind: KindName;
    series: SeriesSpec;
    openMs: number;
    closeMs: number;
    /** Under the series' former name. */
    former?: boolean;
    size?: number;
    /** What a combo can be made of. */
    legs?: readonly Leg[];
  },
  rng: Rng,
  taken: { has(ticker: string): boolean },
): { event: EventSpec; markets: MarketSpec[] } {
  const { series, openMs, closeMs } = options;
  const kind = KINDS[options.kind];
  const draft = kind.build({ rng, series, closeMs, legs: options.legs ?? [] });
  const prefix = options.former && series.formerTicker ? series.formerTicker : series.ticker;
  let ticker = `${prefix}-${draft.code}`;
  for (let game = 2; taken.has(ticker); game++) ticker = `${prefix}-${draft.code}G${game}`;
  const createdUs = (openMs - rng.int(10, 3000) * MINUTE_MS) * 1000 + rng.int(1, 59_999_999);
  const event: EventSpec = {
    ticker,
    series,
    combo: options.kind === 'combo',
    createdUs,
    feeType: draft.feeType ?? series.feeType,
    feeMultiplier: draft.feeMultiplier ?? series.feeMultiplier,
    fixed: {
      event_ticker: ticker,
      series_ticker: series.ticker,
      title: draft.title,
      sub_title: draft.subTitle,
      category: series.category,
      mutually_exclusive: draft.mutuallyExclusive,
      settlement_sources: series.sources,
      exchange_index: series.exchangeIndex,
      fee_type_override: draft.feeType,
      fee_multiplier_override: draft.feeMultiplier,
      ...draft.fixed,
    },
  };
  const lagMs = options.kind === 'coin' ? 30_000 : rng.pick([122_000, 10 * MINUTE_MS, HOUR_MS]) + rng.int(0, 999);
  const markets = draft.markets.slice(0, options.size).map((market): MarketSpec => ({
    ticker: `${ticker}-${market.suffix}`,
    eventTicker: ticker,
    createdUs: createdUs + rng.int(0, 900),
    openMs,
    closeMs,
    grid: series.grid,
    exchangeIndex: series.exchangeIndex,
    provisional: false,
    fixed: fixedFields(market, kind.settlementTimerSeconds, series, closeMs, rng),
    plan: {
      ...market.outcome,
      expirationValue: market.expirationValue,
      lagMs,
      timerMs: kind.settlementTimerSeconds * 1000,
    },
  }));
  return { event, markets };
}

function fixedFields(
  market: MarketDraft,
  settlementTimerSeconds: number,
  series: SeriesSpec,
  closeMs: number,
  rng: Rng,
): Record<string, unknown> {
  const latest = timeText((closeMs + 3 * DAY_MS) * 1000);
  return {
    market_type: 'binary',
    title: market.title,
    yes_sub_title: market.yes,
    no_sub_title: market.no,
    expected_expiration_time: timeText((closeMs + HOUR_MS) * 1000),
    latest_expiration_time: latest,
    expiration_time: latest,
    settlement_timer_seconds: settlementTimerSeconds,
    notional_value_dollars: '1.0000',
    price_level_structure: series.grid.label,
    price_ranges: series.grid.ranges,
    can_close_early: true,
    rules_primary: `If ${market.yes} comes true by ${timeText(closeMs * 1000)}, then the market resolves to Yes.`,
    rules_secondary: rng.chance(0.2) ? '' : 'Preliminary reports may differ from the value used to settle.',
    settlement_bounds_type: 'default',
    // Shard 0 is often left out; absent means 0.
    ...(series.exchangeIndex > 0 || rng.chance(0.5) ? { exchange_index: series.exchangeIndex } : {}),
    ...market.fixed,
  };
}
