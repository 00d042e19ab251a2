/**
 * What an address is counted as: without the port that some proxies add, which would make a caller new with every connection;
 * of IPv6 the /64 network, since one customer owns all of it.
 */
export function addressOf(given: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(given)?.[1] ?? given.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  const ip = bare.toLowerCase();
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip.replace('::ffff:', '');
  const [head = ''] = ip.split('::', 1);
  const groups = head.split(':').filter(Boolean);
  while (groups.length < 4) groups.push('0');
  return `${groups.slice(0, 4).join(':')}::/64`;
}
