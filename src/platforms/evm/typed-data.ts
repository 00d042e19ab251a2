import type { Hex } from 'viem';
import { concatHex, hashStruct, keccak256 } from 'viem/utils';
import { Cache } from '../../core/cache.ts';

/** The contract under which a message is signed. */
export interface SigningDomain {
  name: string;
  version: string;
  chainId: bigint;
  verifyingContract: Hex;
}

const DOMAIN_FIELDS = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
} as const;

const separators = new Cache<string, Hex>({ limit: 1000 });

/** The domain's own hash. Cached: it never changes, and takes longer to compute than a message's. */
export function domainHash(domain: SigningDomain): Hex {
  const id = `${domain.name} ${domain.version} ${domain.chainId} ${domain.verifyingContract}`;
  const hash =
    separators.get(id) ?? hashStruct({ data: { ...domain }, primaryType: 'EIP712Domain', types: DOMAIN_FIELDS });
  separators.set(id, hash);
  return hash;
}

/** The hash to sign for a message (EIP-712), given the hash of its struct. */
export const typedDataHash = (domain: SigningDomain, structHash: Hex): Hex =>
  keccak256(concatHex(['0x1901', domainHash(domain), structHash]));
