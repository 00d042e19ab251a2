import type { LogGap } from './log/follower.ts';

/** The data of a `gap` event: a stretch of a platform's events of which it is not known whether it is complete. */
export const gapData = ({ partition, fromMs, toMs }: LogGap) => ({
  platform: partition.platform,
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
  reason: `events of ${partition.feed} are missing in the log`,
});
