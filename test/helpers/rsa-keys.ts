import { createPrivateKey, type JsonWebKey } from 'node:crypto';

const toNumber = (part = ''): bigint => BigInt(`0x${Buffer.from(part, 'base64url').toString('hex')}`);
const toPart = (value: bigint): string => {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex').toString('base64url');
};
const swell = (exponent?: string, prime?: string): string =>
  toPart(toNumber(exponent) + ((toNumber(prime) - 1n) << 12_000n));

/**
 * The same RSA key with exponents that are 12,000 bits longer than they need to be: dp + k·(p − 1) signs like dp, at many times
 * the cost.
 */
export function swollenPem(pem: string): string {
  const key: JsonWebKey = createPrivateKey(pem).export({ format: 'jwk' });
  const swollen = { ...key, dp: swell(key.dp, key.p), dq: swell(key.dq, key.q) };
  return String(createPrivateKey({ key: swollen, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }));
}
