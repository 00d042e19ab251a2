import type { LogGap } from './log/follower.ts';

/** The data of a `gap` event: a period of a platform's events that may be incomplete. */
export const gapData = ({ partition, fromMs, toMs }: LogGap) => ({
  platform: partition.platform,
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
  reason: `events of ${partition.feed} are missing in the log`,
});
