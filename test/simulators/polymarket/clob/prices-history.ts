import { ClobError } from './error.ts';
import type { OutcomeIndex, SimMarket } from '../world/model.ts';
import { midAt } from '../world/stats.ts';
import { DAY, HOUR, MINUTE, ONE, priceNumber } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** Span of each preset, and the finest fidelity (minutes) it takes. */
const INTERVALS: Record<string, { spanMs: number; leastMin: number }> = {
  '1h': { spanMs: HOUR, leastMin: 1 },
  '6h': { spanMs: 6 * HOUR, leastMin: 1 },
  '1d': { spanMs: DAY, leastMin: 1 },
  '1w': { spanMs: 7 * DAY, leastMin: 5 },
  '1m': { spanMs: 30 * DAY, leastMin: 10 },
};
const LONGEST_WINDOW_SECONDS = 15 * 86_400;
/** What the server makes of a finer fidelity when everything is asked for; resolved markets need 12 hours. */
const MAX_RANGE_LEAST_MIN = 10;
const RESOLVED_MAX_LEAST_MIN = 720;

/** GET /prices-history: samples of the midpoint of a TOKEN, oldest first, at times that are not on the minute. */
export function pricesHistory(world: PolymarketWorld, query: URLSearchParams): { history: { t: number; p: number }[] } {
  const token = query.get('market') ?? '';
  if (!/^\d{1,78}$/.test(token)) throw new ClobError(400, 'Invalid market');
  const asked = world.catalog.byTokenId(token);
  const { fromMs, toMs, stepMs } = window(world, query, asked?.market.state === 'resolved');
  if (!asked || stepMs === 0) return { history: [] };
  return { history: samples(world, asked.market, asked.outcome, fromMs, toMs, stepMs) };
}

function window(
  world: PolymarketWorld,
  query: URLSearchParams,
  resolved: boolean,
): { fromMs: number; toMs: number; stepMs: number } {
  const interval = query.get('interval');
  const start = seconds(query, 'startTs');
  const end = seconds(query, 'endTs');
  const fidelity = seconds(query, 'fidelity');
  if ((interval === null) === (start === null)) {
    throw new ClobError(400, "one of 'interval' or 'startTs' must be provided");
  }
  if (start !== null) {
    if (end !== null && end - start > LONGEST_WINDOW_SECONDS)
      throw new ClobError(400, "'startTs' and 'endTs' interval is too long");
    return { fromMs: start * 1000, toMs: end === null ? world.now() : end * 1000, stepMs: (fidelity ?? 1) * MINUTE };
  }
  if (interval === 'max' || interval === 'all') {
    const step =
      resolved && (fidelity ?? 1) < RESOLVED_MAX_LEAST_MIN ? 0 : Math.max(fidelity ?? 1, MAX_RANGE_LEAST_MIN);
    return { fromMs: 0, toMs: world.now(), stepMs: step * MINUTE };
  }
  const preset = INTERVALS[interval ?? ''];
  if (!preset) throw new ClobError(400, "invalid 'interval'");
  if (fidelity !== null && fidelity < preset.leastMin) {
    throw new ClobError(400, `minimum 'fidelity' for '${interval}' range is ${preset.leastMin}`);
  }
  // Presets end now, also for a market that ended long ago.
  return {
    fromMs: world.now() - preset.spanMs,
    toMs: world.now(),
    stepMs: Math.max(fidelity ?? 1, preset.leastMin) * MINUTE,
  };
}

function seconds(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === '') return null;
  if (!/^\d{1,12}$/.test(text)) throw new ClobError(400, `invalid '${name}'`);
  return Number(text);
}

/** One sample per step, each up to half a minute late. */
function samples(
  world: PolymarketWorld,
  market: SimMarket,
  outcome: OutcomeIndex,
  fromMs: number,
  toMs: number,
  stepMs: number,
) {
  const firstMs = Math.max(fromMs, market.acceptingFromMs ?? market.createdMs);
  const lastMs = Math.min(toMs, market.closedMs ?? world.now());
  const points: { t: number; p: number }[] = [];
  for (let step = Math.ceil(firstMs / stepMs); step * stepMs <= lastMs; step++) {
    const atMs = step * stepMs + ((step * 7919 + market.index * 104_729) % 30) * 1000;
    if (atMs > lastMs) break;
    const mid = midAt(market, atMs);
    if (mid !== null) points.push({ t: Math.floor(atMs / 1000), p: priceNumber(outcome === 0 ? mid : ONE - mid) });
  }
  return points;
}
