import { createHmac, hash } from 'node:crypto';
import type { SimRequest } from '../../lib/index.ts';
import type { Ids } from '../world/ids.ts';
import { ClobError } from './error.ts';
import { authSigner } from './typed-data.ts';

/** An API key as the platform hands it out. */
export interface ApiKey {
  apiKey: string;
  /** URL-safe base64. */
  secret: string;
  passphrase: string;
  /** Lower-case address that proved itself. */
  address: string;
  nonce: string;
}

/** Calls state Unix seconds; how old they may be is not published. */
const SECONDS = /^\d{10}$/;

const unauthorized = (): ClobError => new ClobError(401, 'Unauthorized/Invalid api key');

/** HMAC-SHA256 over timestamp + METHOD + path without query + exact body, URL-safe base64 with padding. */
export function hmacOf(secret: string, timestamp: string, method: string, path: string, body: string): string {
  const digest = createHmac('sha256', Buffer.from(secret, 'base64')).update(`${timestamp}${method}${path}${body}`);
  return digest.digest('base64').replaceAll('+', '-').replaceAll('/', '_');
}

/** API keys: one per address and nonce, made or found again with a signature of the address. */
export class ApiKeys {
  private readonly ids: Ids;
  private readonly keys = new Map<string, ApiKey>();

  constructor(ids: Ids) {
    this.ids = ids;
  }

  async create(request: SimRequest): Promise<ApiKey> {
    const { address, nonce } = await proven(request);
    if (this.of(address, nonce)) throw new ClobError(400, 'Could not create api key');
    return this.issue(address, nonce);
  }

  async derive(request: SimRequest): Promise<ApiKey> {
    const { address, nonce } = await proven(request);
    const key = this.of(address, nonce);
    if (!key) throw new ClobError(400, 'Could not derive api key!');
    return key;
  }

  issue(address: string, nonce: string): ApiKey {
    const label = `${address.toLowerCase()}:${nonce}:${this.keys.size}`;
    const key: ApiKey = {
      apiKey: this.ids.uuid('apikey', label),
      secret: Buffer.from(hash('sha256', `secret:${label}`), 'hex')
        .toString('base64url')
        .padEnd(44, '='),
      passphrase: hash('sha256', `passphrase:${label}`),
      address: address.toLowerCase(),
      nonce,
    };
    this.keys.set(key.apiKey, key);
    return key;
  }

  /** The key of a request that is signed with its secret (L2). `path` as the platform sees it, without the base. */
  verify(request: SimRequest, path: string): ApiKey {
    const { headers, method, body } = request;
    const key = this.keys.get(headers['poly_api_key'] ?? '');
    if (!key || key.passphrase !== headers['poly_passphrase']) throw unauthorized();
    if (key.address !== headers['poly_address']?.toLowerCase()) throw unauthorized();
    const timestamp = headers['poly_timestamp'] ?? '';
    if (!SECONDS.test(timestamp)) throw unauthorized();
    if (hmacOf(key.secret, timestamp, method, path, body) !== headers['poly_signature']) throw unauthorized();
    return key;
  }

  /** The key of somebody who shows its secret; undefined for a wrong one. */
  matching({ apiKey, secret, passphrase }: Pick<ApiKey, 'apiKey' | 'secret' | 'passphrase'>): ApiKey | undefined {
    const key = this.keys.get(apiKey);
    return key?.secret === secret && key.passphrase === passphrase ? key : undefined;
  }

  listOf(address: string): ApiKey[] {
    return [...this.keys.values()].filter((key) => key.address === address);
  }

  drop(key: ApiKey): void {
    this.keys.delete(key.apiKey);
  }

  private of(address: string, nonce: string): ApiKey | undefined {
    return this.listOf(address).find((key) => key.nonce === nonce);
  }
}

/** L1: the headers are signed by the address they name. */
async function proven({ headers }: SimRequest): Promise<{ address: string; nonce: string }> {
  const address = (headers['poly_address'] ?? '').toLowerCase();
  const nonce = headers['poly_nonce'] ?? '0';
  const signature = headers['poly_signature'] ?? '';
  const timestamp = headers['poly_timestamp'] ?? '';
  const signer = await authSigner({ address, nonce, signature, timestamp });
  if (!SECONDS.test(timestamp) || signer?.toLowerCase() !== address)
    throw new ClobError(401, 'Invalid L1 Request headers');
  return { address, nonce };
}
