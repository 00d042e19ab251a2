/** What an address is counted as; of IPv6 the /64 network, since one customer owns all of it. */
export function addressOf(ip: string): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip.replace('::ffff:', '');
  const [head = ''] = ip.split('::', 1);
  const groups = head.split(':').filter(Boolean);
  while (groups.length < 4) groups.push('0');
  return `${groups.slice(0, 4).join(':')}::/64`;
}
