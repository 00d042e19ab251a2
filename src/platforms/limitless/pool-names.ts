import { getAddress, isAddress } from 'viem/utils';

/** Reads by a slug, and where that finds nothing by the address of the pool, if it is known: the documented name of a pool. */
export async function ofPool<T>(
  slug: string,
  address: unknown,
  read: (name: string) => Promise<T | null>,
): Promise<T | null> {
  const found = await read(nameOf(slug));
  return found === null && typeof address === 'string' && isAddress(address, { strict: false })
    ? read(nameOf(address))
    : found;
}

/** The path of an address is its checksummed form. */
const nameOf = (name: string): string => (isAddress(name, { strict: false }) ? getAddress(name) : name);
