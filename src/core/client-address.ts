import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';

/** An address without the port that some proxies add; an IPv4-mapped IPv6 address as IPv4. */
export function bareAddress(given: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(given)?.[1] ?? given.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  const ip = bare.toLowerCase();
  return ip.startsWith('::ffff:') ? ip.replace('::ffff:', '') : ip;
}

/** `ipv4` or `ipv6`; null if it is not an address. */
export const familyOf = (ip: string): 'ipv4' | 'ipv6' | null => (isIPv4(ip) ? 'ipv4' : isIPv6(ip) ? 'ipv6' : null);

/** Names of this machine in a URL. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|.+\.localhost)$/;
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host);

/** Headers set only by proxies: any of them means that a proxy forwarded the request. */
const OF_PROXIES = /^(forwarded|via|x-forwarded-.*|x-real-ip|x-original-.*|.*-client-ip|.*-connecting-ip|x-envoy-.*)$/;

/** Whether a request comes from this machine, and not through a proxy on it, whose address identifies only the proxy. */
export function isOfThisMachine(address: string, headers: IncomingHttpHeaders): boolean {
  const forwarded = Object.keys(headers).some((name) => OF_PROXIES.test(name));
  return !forwarded && /^(127\.|::1$|::ffff:127\.)/.test(address);
}

const GROUPS = 8;

/** What an address counts as in limits: without the port of the connection; for IPv6 the /64 network, which one customer owns. */
export function clientNetwork(given: string): string {
  const ip = bareAddress(given);
  if (!ip.includes(':')) return ip;
  const [left = [], right = []] = ip.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...left, ...Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
