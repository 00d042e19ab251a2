import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import type { OrderAccess } from '../order-contract.ts';
import type { AdapterDeps } from '../contract.ts';
import { Cache } from '../../core/cache.ts';
import { parseBody } from '../parse-rows.ts';
import { signAuth } from './orders/signing.ts';
import type { PolymarketUrl } from './manifest.ts';

/** An API key of a wallet; secret except for `key`, which identifies the owner of orders. */
export interface ApiKey {
  key: string;
  /** Base64, either alphabet. */
  secret: string;
  passphrase: string;
}

/** Wallets whose derived keys are cached. */
const MAX_KEYS = 1000;

const Issued = z
  .object({ apiKey: z.string().min(1), secret: z.string().min(1), passphrase: z.string().min(1) })
  .transform(({ apiKey, secret, passphrase }): ApiKey => ({ key: apiKey, secret, passphrase }));

/** API keys by wallet: the one in the credential, else the wallet's first, created if it has none. */
export interface ApiKeys {
  of(access: OrderAccess<'polymarket'>, address: string): Promise<ApiKey>;
  /** After the platform rejected a key: the next call derives it again. */
  forget(address: string): void;
}

export function createApiKeys({ http, settings, now }: AdapterDeps<PolymarketUrl>): ApiKeys {
  const derived = new Cache<string, ApiKey>({ limit: MAX_KEYS });

  async function ask(method: 'GET' | 'POST', path: string, { credential, priority, user }: Access, address: string) {
    const timestamp = String(Math.floor(now() / 1000));
    const signature = await signAuth(credential.private_key, timestamp);
    const reply = await http.send({
      platform: 'polymarket',
      group: 'polymarket:clob/auth',
      // A cancel may wait for the key.
      circuit: 'cancel',
      method,
      url: `${settings.POLYMARKET_CLOB_URL}${path}`,
      headers: {
        POLY_ADDRESS: address,
        POLY_SIGNATURE: signature,
        POLY_TIMESTAMP: timestamp,
        POLY_NONCE: '0',
      },
      priority,
      user,
      retry: method === 'GET',
    });
    return parseBody('polymarket', Issued, reply, path);
  }

  /** Most wallets have a key. If another process creates one at the same time, both the first derive and the create answer 400. */
  async function deriveOrCreate(access: Access, address: string): Promise<ApiKey> {
    const derive = () => ask('GET', '/auth/derive-api-key', access, address);
    const create = () => ask('POST', '/auth/api-key', access, address);
    return derive().catch(unlessAnswered400(create)).catch(unlessAnswered400(derive)).catch(unlessAnswered400(noKey));
  }

  return {
    async of(access, address) {
      const { api_key: key, api_secret: secret, api_passphrase: passphrase } = access.credential;
      if (key !== undefined && secret !== undefined && passphrase !== undefined) return { key, secret, passphrase };
      // Shared by all waiting callers: one that disconnects does not abort it.
      return derived.read(address, () => deriveOrCreate(access, address));
    },
    forget: (address) => derived.delete(address),
  };
}

type Access = OrderAccess<'polymarket'>;

/** The wallet has no key and gets none: its owner has to do something, e.g. log in for the first time. */
const noKey = (error: PlatformError): Promise<never> => {
  const { status, detail, body } = error;
  return Promise.reject(new PlatformError('polymarket', 'unauthorized', { status, detail, body, cause: error }));
};

const unlessAnswered400 =
  (next: (refusal: PlatformError) => Promise<ApiKey>) =>
  (error: unknown): Promise<ApiKey> => {
    if (error instanceof PlatformError && error.status === 400) return next(error);
    throw error;
  };

/** Headers of a private call: HMAC-SHA256 over time (s) + METHOD + path without query + exact body, in URL-safe padded base64. */
export function signedHeaders(
  { key, secret, passphrase }: ApiKey,
  address: string,
  call: { timestamp: string; method: string; path: string; body: string },
): Record<string, string> {
  const digest = createHmac('sha256', Buffer.from(secret, 'base64'))
    .update(call.timestamp + call.method + call.path + call.body)
    .digest('base64');
  return {
    POLY_ADDRESS: address,
    POLY_API_KEY: key,
    POLY_PASSPHRASE: passphrase,
    POLY_TIMESTAMP: call.timestamp,
    POLY_SIGNATURE: digest.replaceAll('+', '-').replaceAll('/', '_'),
  };
}
