import type { LogGap } from './log/follower.ts';

/** The data of a `gap` event: a stretch of a platform's events that cannot be vouched for. */
export const gapData = ({ partition, fromMs, toMs }: LogGap) => ({
  platform: partition.platform,
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
  reason: `events of ${partition.feed} are missing in the log`,
});
