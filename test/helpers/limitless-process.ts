import { startLimitless } from '../simulators/limitless.ts';

/** A small Limitless in a process of its own, which a test can stop and continue; sends its settings, ends with its parent. */
const sim = await startLimitless({ seed: 11, markets: 1, tradesPerMarket: 20, historyDays: 3 });
sim.startTrading(1);
process.send?.(sim.env);
process.on('message', () => process.send?.(sim.refused.count));
process.on('disconnect', () => process.exit());
