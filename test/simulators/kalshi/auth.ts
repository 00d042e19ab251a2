import { constants, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import type { SimRequest } from '../lib/index.ts';
import type { Account } from './account.ts';
import { WireError } from './call.ts';

/** How far a request's timestamp may be from the world's clock; the platform does not say. */
const TOLERANCE_MS = 30_000;

const unauthorized = (details: string): WireError => new WireError(401, 'unauthorized', 'unauthorized', details);

/**
 * The account behind a request. The signature must be over TIMESTAMP + METHOD + PATH, the path from the root and without
 * its query: RSA-PSS with SHA-256 and a salt of 32 bytes, or Ed25519 over the same bytes.
 */
export function authenticate(
  request: Pick<SimRequest, 'method' | 'path' | 'headers'>,
  accounts: readonly Account[],
  scope: 'read' | 'write',
  nowMs: number,
): Account {
  const keyId = request.headers['kalshi-access-key'];
  const timestamp = request.headers['kalshi-access-timestamp'];
  const signature = request.headers['kalshi-access-signature'];
  if (!keyId || !timestamp || !signature) throw unauthorized('missing authentication headers');
  const account = accounts.find((one) => one.keys.some((key) => key.id === keyId));
  const key = account?.keys.find((one) => one.id === keyId);
  if (!account || !key) throw unauthorized('unknown key');
  if (!/^\d{13}$/.test(timestamp) || Math.abs(Number(timestamp) - nowMs) > TOLERANCE_MS) {
    throw unauthorized('timestamp out of range');
  }
  const message = Buffer.from(`${timestamp}${request.method}${request.path}`);
  if (!isSignedBy(key.publicKey, message, Buffer.from(signature, 'base64'))) throw unauthorized('invalid signature');
  if (!key.scopes.some((one) => one === scope || (scope === 'write' && one === 'write::trade'))) {
    throw new WireError(403, 'forbidden', 'forbidden', `key lacks scope ${scope}`);
  }
  return account;
}

function isSignedBy(publicKey: KeyObject, message: Buffer, signature: Buffer): boolean {
  if (publicKey.asymmetricKeyType === 'ed25519') return verify(null, message, publicKey, signature);
  const pss = {
    key: publicKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  };
  return verify('sha256', message, pss, signature);
}

/** A key pair of a member: the private half as PKCS#8 PEM, as the web app hands it out. */
export function createKeyPair(type: 'ed25519' | 'rsa'): { publicKey: KeyObject; privateKeyPem: string } {
  const { publicKey, privateKey } =
    type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519');
  return { publicKey, privateKeyPem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
}
