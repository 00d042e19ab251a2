import { isIPv4, isIPv6 } from 'node:net';

/** An address without the port that some proxies add; an IPv4-mapped IPv6 address as IPv4. */
export function bareAddress(given: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(given)?.[1] ?? given.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  const ip = bare.toLowerCase();
  return ip.startsWith('::ffff:') ? ip.replace('::ffff:', '') : ip;
}

/** `ipv4` or `ipv6`; null if it is not an address. */
export const familyOf = (ip: string): 'ipv4' | 'ipv6' | null => (isIPv4(ip) ? 'ipv4' : isIPv6(ip) ? 'ipv6' : null);

/**
 * What an address counts as in limits: without the port, which changes with every connection; for IPv6 the /64 network, since
 * one customer owns all of it.
 */
export function clientNetwork(given: string): string {
  const ip = bareAddress(given);
  if (!ip.includes(':')) return ip;
  const [head = ''] = ip.split('::', 1);
  const groups = head.split(':').filter(Boolean);
  while (groups.length < 4) groups.push('0');
  return `${groups.slice(0, 4).join(':')}::/64`;
}
