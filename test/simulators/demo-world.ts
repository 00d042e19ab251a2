import { startKalshi } from './kalshi.ts';
import { startLimitless } from './limitless.ts';
import { startPolymarket } from './polymarket.ts';
import { shareQuestions } from './shared-questions.ts';
import type { SimClock } from './simulator.ts';

/** Trades a second on each platform of the demo. */
export const DEMO_TRADES_PER_SECOND = 2;

/** The three platforms of the demo, with the questions that they share; nobody trades yet. */
export async function startDemoWorld(options: { clock?: SimClock } = {}) {
  const [kalshi, polymarket, limitless] = await Promise.all([
    startKalshi(options),
    startPolymarket(options),
    startLimitless(options),
  ]);
  shareQuestions({ kalshi, polymarket, limitless });
  return { kalshi, polymarket, limitless };
}
