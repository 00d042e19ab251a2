import { accountName } from '../http/limit-group.ts';
import { ACCOUNT_CIRCUITS, type PlatformReply, type PlatformRequest } from '../http/request.ts';
import type { OrderAccess } from '../order-contract.ts';
import type { AdapterDeps } from '../contract.ts';
import { type KalshiPage, type KalshiQuery, pageIn, queryText } from './client.ts';
import type { KalshiCredential } from './credential.ts';
import type { KalshiUrl } from './manifest.ts';
import { kalshiSigner } from './sign.ts';

/** Signed calls of one member. */
export interface KalshiAccount {
  get(path: string, query: KalshiQuery, cost?: number): Promise<PlatformReply>;
  /** One page of the list in field `key`. */
  page(path: string, key: string, query: KalshiQuery): Promise<Pick<KalshiPage, 'rows' | 'next'>>;
  /** A single attempt, without retries. */
  send(method: 'POST' | 'DELETE', path: string, body: string | null, cost?: number): Promise<PlatformReply>;
}

/** Names the account of a credential, for its budgets. */
export const kalshiAccountName = ({ api_key_id: id, private_key: key }: KalshiCredential): string =>
  accountName(id, key);

export function createKalshiAccount(
  { http, settings, now }: AdapterDeps<KalshiUrl>,
  { credential, priority, signal, guest, forCancel }: OrderAccess<'kalshi'>,
): KalshiAccount {
  const signer = kalshiSigner(credential, now);
  const name = kalshiAccountName(credential);
  const request = (method: PlatformRequest['method'], path: string, cost?: number): PlatformRequest => {
    const url = `${settings.KALSHI_API_URL}${path}`;
    return {
      platform: 'kalshi',
      group: method === 'GET' ? 'kalshi:read' : 'kalshi:write',
      circuit: forCancel ? 'cancel' : ACCOUNT_CIRCUITS[method],
      account: name,
      user: guest,
      method,
      url,
      // Signed when sent: the request may have waited for its turn.
      headers: async () => ({
        ...(await signer(method, url)),
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      }),
      priority,
      retry: method === 'GET',
      ...(cost === undefined ? {} : { cost }),
      ...(signal ? { signal } : {}),
    };
  };

  const get: KalshiAccount['get'] = (path, query, cost) =>
    http.send(request('GET', `${path}${queryText(query)}`, cost));

  return {
    get,
    page: async (path, key, query) => pageIn(await get(path, query), path, key),
    send: (method, path, body, cost) =>
      http.send({ ...request(method, path, cost), ...(body === null ? {} : { body }) }),
  };
}
