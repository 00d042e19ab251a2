import { randomBytes } from 'node:crypto';
import { statedAgeMs } from '../http/made-at.ts';
import type { PlatformReply } from '../http/request.ts';
import { Cache } from '../../core/cache.ts';

const MOST_TRACES = 2000;
/** Longest time that the CDN caches a page of trades or open interest. */
const LONGEST_KEPT_MS = 300_000;

/** The age of a page when it was received. */
type PageAge = (reply: PlatformReply) => number;

/** Creates URLs that the CDN has never seen, and detects pages that it cached all the same. */
export function createFreshReads(): { parameter(): string; ageMs: PageAge } {
  const series = randomBytes(6).toString('hex');
  const traces = new Cache<string, true>({ limit: MOST_TRACES });
  let count = 0;
  return {
    parameter: () => `${series}-${(count += 1)}`,
    ageMs(reply) {
      const { headers } = reply;
      const trace = headers['x-trace-id'] ?? '';
      const isRepeated = trace !== '' && traces.has(trace);
      if (trace !== '') traces.set(trace, true);
      const age = statedAgeMs(reply);
      if (age > 0) return age;
      return isRepeated || /^hit/i.test(headers['x-cache'] ?? '') ? LONGEST_KEPT_MS : 0;
    },
  };
}
