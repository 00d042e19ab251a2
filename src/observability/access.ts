import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isOfThisMachine } from '../core/client-address.ts';

/**
 * Who may read metrics: callers with METRICS_TOKEN as bearer token. Without a token only callers on this machine, and not through
 * a proxy, whose address identifies only the proxy.
 */
export function mayReadMetrics(token: string | undefined, address: string, headers: IncomingHttpHeaders): boolean {
  if (token !== undefined) return same(headers.authorization ?? '', `Bearer ${token}`);
  return isOfThisMachine(address, headers);
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const same = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
