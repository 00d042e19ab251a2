import { privateKeyToAddress } from 'viem/accounts';
import { z } from 'zod';

/** A wallet key, as 0x and 64 lower-case digits. */
export const walletKeyField = z
  .string({ error: 'a wallet key: 0x and 64 hex digits' })
  .trim()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, { error: 'a wallet key: 0x and 64 hex digits' })
  .transform((text, context) => {
    const key = `0x${text.replace(/^0x/, '').toLowerCase()}` as const;
    if (addressOfKey(key) !== null) return key;
    context.issues.push({ code: 'custom', message: 'a wallet key within the range of the curve', input: text });
    return z.NEVER;
  });

/** An address, in lower case. */
export const walletAddressField = z
  .string({ error: 'an address: 0x and 40 hex digits' })
  .trim()
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'an address: 0x and 40 hex digits' })
  .transform((text) => text.toLowerCase() as `0x${string}`);

/** Address of a wallet key in lower case; null for a key outside the range of the curve. */
export function addressOfKey(key: `0x${string}`): string | null {
  try {
    return privateKeyToAddress(key).toLowerCase();
  } catch {
    return null;
  }
}
