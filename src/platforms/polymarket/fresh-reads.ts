import { randomBytes } from 'node:crypto';
import type { PlatformReply } from '../http/request.ts';
import { Cache } from '../../core/cache.ts';

const MOST_TRACES = 2000;
/** Longest time that the CDN caches a page of trades or open interest. */
const LONGEST_KEPT_MS = 300_000;

/** When the platform generated a page, ISO time: earlier than its receipt if the CDN cached it. */
export const madeAt = ({ receivedAt, ageMs }: { receivedAt: string; ageMs: number }): string =>
  ageMs === 0 ? receivedAt : new Date(Date.parse(receivedAt) - ageMs).toISOString();

/** The age of a page when it was received. */
type PageAge = (reply: PlatformReply) => number;

/** Creates URLs that the CDN has never seen, and detects pages that it cached all the same. */
export function createFreshReads(): { parameter(): string; ageMs: PageAge } {
  const series = randomBytes(6).toString('hex');
  const traces = new Cache<string, true>({ limit: MOST_TRACES });
  let count = 0;
  return {
    parameter: () => `${series}-${(count += 1)}`,
    ageMs({ headers }) {
      const trace = headers['x-trace-id'] ?? '';
      const isRepeated = trace !== '' && traces.has(trace);
      if (trace !== '') traces.set(trace, true);
      const age = Number(headers['age'] ?? '0') * 1000;
      if (age > 0) return age;
      return isRepeated || /^hit/i.test(headers['x-cache'] ?? '') ? LONGEST_KEPT_MS : 0;
    },
  };
}
