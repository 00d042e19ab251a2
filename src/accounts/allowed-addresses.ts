import { BlockList } from 'node:net';
import { bareAddress, familyOf } from '../core/client-address.ts';

/** Addresses and CIDR blocks, validated when they were stored; null if any address may call. */
export function addressList(allowed: readonly string[]): BlockList | null {
  if (allowed.length === 0) return null;
  const list = new BlockList();
  for (const entry of allowed) {
    const [ip = '', bits] = entry.split('/');
    const family = familyOf(ip);
    if (family === null) continue;
    if (bits === undefined) list.addAddress(ip, family);
    else list.addSubnet(ip, Number(bits), family);
  }
  return list;
}

/** Whether the list contains the address; true without a list. */
export function isAddressListed(list: BlockList | null, given: string): boolean {
  if (!list) return true;
  const ip = bareAddress(given);
  const family = familyOf(ip);
  return family !== null && list.check(ip, family);
}
