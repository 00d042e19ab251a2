import {
  constants,
  createPrivateKey,
  sign,
  type JsonWebKey,
  type KeyObject,
  type SignKeyObjectInput,
} from 'node:crypto';
import { promisify } from 'node:util';
import { keyProblem, type KalshiCredential } from './credential.ts';
import { refusedBy } from '../refusal-rules.ts';
import { KALSHI_CHECKS } from './orders/advice.ts';

/** Signed headers of one request. `url` may carry a query; it is not signed. */
export type KalshiSigner = (method: string, url: string) => Promise<Record<string, string>>;

/** In the thread pool: a signature with the longest RSA key takes 4 ms, which would block the event loop. */
const signed = promisify<string | null, Buffer, SignKeyObjectInput, Buffer>(sign);

/** Parsed keys: parsing costs more than signing. Dropped with the decrypted credential. */
const keys = new WeakMap<KalshiCredential, KeyObject>();

/**
 * Signs for one credential: TIMESTAMP (Unix ms) + METHOD + PATH from the root, without query and body. RSA keys sign with PSS, SHA-256
 * and a salt of the digest's length; Ed25519 keys sign the same bytes directly.
 */
export function kalshiSigner(credential: KalshiCredential, now: () => number): KalshiSigner {
  const key = keys.get(credential) ?? keyOf(credential.private_key);
  keys.set(credential, key);
  return async (method, url) => {
    const timestamp = String(now());
    const message = Buffer.from(`${timestamp}${method}${new URL(url).pathname}`);
    return {
      'kalshi-access-key': credential.api_key_id,
      'kalshi-access-timestamp': timestamp,
      'kalshi-access-signature': (await signature(key, message)).toString('base64'),
    };
  };
}

/** Earlier releases stored PEM texts, and RSA keys of any length: 422 for keys that are no longer accepted. */
function keyOf(stored: string): KeyObject {
  const key = createPrivateKey(
    stored.startsWith('{') ? { key: JSON.parse(stored) as JsonWebKey, format: 'jwk' } : stored,
  );
  const problem = keyProblem(key);
  if (problem === null) return key;
  throw refusedBy(KALSHI_CHECKS.key, '', problem);
}

function signature(key: KeyObject, message: Buffer): Promise<Buffer> {
  if (key.asymmetricKeyType === 'ed25519') return signed(null, message, { key });
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return signed('sha256', message, pss);
}
