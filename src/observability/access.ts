import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Headers set only by proxies: any of them means that a proxy forwarded the request. */
const OF_PROXIES = /^(forwarded|via|x-forwarded-.*|x-real-ip|x-original-.*|.*-client-ip|.*-connecting-ip|x-envoy-.*)$/;

/**
 * Who may read metrics: callers with METRICS_TOKEN as bearer token. Without a token only callers on this machine, and not through
 * a proxy, whose address identifies only the proxy.
 */
export function mayReadMetrics(token: string | undefined, address: string, headers: IncomingHttpHeaders): boolean {
  if (token !== undefined) return same(headers.authorization ?? '', `Bearer ${token}`);
  const forwarded = Object.keys(headers).some((name) => OF_PROXIES.test(name));
  return !forwarded && /^(127\.|::1$|::ffff:127\.)/.test(address);
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const same = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
