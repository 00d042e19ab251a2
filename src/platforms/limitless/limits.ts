import { rule } from '../http/limit-group.ts';

/** Limit: 2 in flight and 300 ms between arrivals. Calls are sent at least 350 ms apart, so network jitter may be 50 ms. */
const bucket = rule('limitless:all', [1, 1 / 0.35]);

/** Limitless's limits, per token. */
export const limitlessLimits = {
  'limitless:all': {
    cost: 1,
    live: bucket,
    background: bucket,
    callers: rule('limitless:all/callers', [4, 0.5 / 0.35]),
    concurrency: 2,
    slots: 2,
    lateMs: 500,
    slowAfterLimitMs: 300_000,
  },
};
