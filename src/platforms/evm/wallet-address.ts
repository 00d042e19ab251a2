import { createHash } from 'node:crypto';
import type { Address, Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { Cache } from '../../core/cache.ts';

/** By SHA-256 of the key, so that the key itself is not kept. */
const addresses = new Cache<string, Address>({ limit: 1000 });

/** The address of a wallet key; computing it costs as much as a signature. */
export function walletAddress(key: Hex): Address {
  const name = createHash('sha256').update(key).digest('base64');
  const address = addresses.get(name) ?? privateKeyToAddress(key);
  addresses.set(name, address);
  return address;
}
