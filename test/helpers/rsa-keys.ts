import { createPrivateKey, type JsonWebKey } from 'node:crypto';

const toNumber = (part = ''): bigint => BigInt(`0x${Buffer.from(part, 'base64url').toString('hex')}`);
const swell = (exponent: bigint, prime: bigint): bigint => exponent + ((prime - 1n) << 12_000n);

/** A DER value: its tag, its length, its bytes. */
function der(tag: number, bytes: Buffer): Buffer {
  const digits = bytes.length.toString(16);
  const length = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  const head = bytes.length < 128 ? [tag, bytes.length] : [tag, 128 + length.length, ...length];
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** A positive INTEGER: a leading zero keeps its highest bit from being the sign. */
const integer = (value: bigint): Buffer => {
  const digits = value.toString(16);
  const even = digits.padStart(digits.length + (digits.length % 2), '0');
  return der(2, Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex'));
};
const RSA_ENCRYPTION = Buffer.from('300d06092a864886f70d0101010500', 'hex');

/**
 * The same RSA key with exponents that are 12,000 bits longer than they need to be: dp + k·(p − 1) signs like dp, at many times
 * the cost. Written byte by byte (RFC 8017, A.1.2, in RFC 5208), as newer versions of OpenSSL make no such key.
 */
export function swollenPem(pem: string): string {
  const key: JsonWebKey = createPrivateKey(pem).export({ format: 'jwk' });
  const [n, e, d, p, q, dp, dq, qi] = [key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qi].map(toNumber) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  const parts = [0n, n, e, d, p, q, swell(dp, p), swell(dq, q), qi].map(integer);
  const rsa = der(0x30, Buffer.concat(parts));
  const pkcs8 = der(0x30, Buffer.concat([integer(0n), RSA_ENCRYPTION, der(4, rsa)]));
  return `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}
