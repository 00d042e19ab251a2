import { constants, createPrivateKey, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { CredentialOf } from '../../credential-forms.ts';

/** Signed headers of one request. `url` may carry a query; it is not signed. */
export type KalshiSigner = (method: string, url: string) => Record<string, string>;

/** Reading a key costs more than signing with it; it is forgotten with the opened credential. */
const keys = new WeakMap<CredentialOf<'kalshi'>, KeyObject>();

/**
 * Signs for one credential: TIMESTAMP (Unix ms) + METHOD + PATH from the root, without query and body. RSA keys sign with PSS,
 * SHA-256 and a salt of the digest's length; Ed25519 keys sign the same bytes as they are.
 */
export function kalshiSigner(credential: CredentialOf<'kalshi'>, now: () => number): KalshiSigner {
  const key = keys.get(credential) ?? keyOf(credential.private_key);
  keys.set(credential, key);
  return (method, url) => {
    const timestamp = String(now());
    const message = Buffer.from(`${timestamp}${method}${new URL(url).pathname}`);
    return {
      'kalshi-access-key': credential.api_key_id,
      'kalshi-access-timestamp': timestamp,
      'kalshi-access-signature': signature(key, message).toString('base64'),
    };
  };
}

/** Releases before stored PEM texts. */
const keyOf = (stored: string): KeyObject =>
  createPrivateKey(stored.startsWith('{') ? { key: JSON.parse(stored) as JsonWebKey, format: 'jwk' } : stored);

function signature(key: KeyObject, message: Buffer): Buffer {
  if (key.asymmetricKeyType === 'ed25519') return sign(null, message, key);
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return sign('sha256', message, pss);
}
