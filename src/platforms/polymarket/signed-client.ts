import { PlatformError } from '../../core/errors.ts';
import { ACCOUNT_CIRCUITS, type PlatformReply } from '../http/request.ts';
import type { LimitGroupName } from '../manifests.ts';
import type { OrderAccess } from '../order-contract.ts';
import type { AdapterDeps } from '../contract.ts';
import { firstPages } from '../list-pages.ts';
import { parseBody } from '../parse-rows.ts';
import { walletAddress } from '../evm/wallet-address.ts';
import { signedHeaders, type ApiKey, type ApiKeys } from './api-keys.ts';
import { queryText, type Query } from './client.ts';
import type { Wallet } from './orders/request.ts';
import { ClobPage, FIRST_CURSOR, LAST_CURSOR } from './orders/rows.ts';
import type { PolymarketUrl } from './manifest.ts';

/** Private calls of one wallet. */
export interface PolymarketAccount {
  readonly wallet: Wallet;
  /** The API key is derived from the wallet, because the credential has none. */
  readonly derivesKey: boolean;
  apiKey(): Promise<ApiKey>;
  get(path: string, query?: Query): Promise<PlatformReply>;
  /** The wallet's balance of an asset, and its allowances, as the CLOB has read them; with `update` the CLOB reads them again. */
  balance(query: Query, options: { signal?: AbortSignal | undefined; update?: boolean }): Promise<PlatformReply>;
  /** Rows of a list until it ends or `maxPages` are read, and of how many pages they are. */
  rows(path: string, query: Query, maxPages: number): Promise<{ rows: unknown[]; ended: boolean; pages: number }>;
  /** A single attempt, without retries. */
  send(call: WriteCall, cost?: number): Promise<PlatformReply>;
}

interface WriteCall {
  method: 'POST' | 'DELETE';
  path: string;
  body: string;
}

interface SignedCall {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  query?: string;
  body?: string;
}

interface SignedOptions {
  cost?: number | undefined;
  signal?: AbortSignal | undefined;
}

export function createPolymarketAccount(
  { http, settings, now }: AdapterDeps<PolymarketUrl>,
  keys: ApiKeys,
  access: OrderAccess<'polymarket'>,
): PolymarketAccount {
  const { credential, priority, user, forCancel } = access;
  const owner = walletAddress(credential.private_key);
  const wallet: Wallet = { signatureType: credential.signature_type, owner, funder: credential.funder ?? null };

  const derivesKey = credential.api_key === undefined;

  async function signed(group: LimitGroupName, call: SignedCall, options: SignedOptions = {}): Promise<PlatformReply> {
    try {
      return await once(group, call, options);
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind !== 'unauthorized') throw error;
      keys.forget(owner);
      // A derived key ends when the wallet makes another one. Only an order is never sent again.
      if (!derivesKey || call.method === 'POST') throw error;
      return once(group, call, options);
    }
  }

  async function once(group: LimitGroupName, call: SignedCall, { cost, signal = access.signal }: SignedOptions) {
    const key = await keys.of(access, owner);
    const { method, path, query = '', body } = call;
    return http.send({
      platform: 'polymarket',
      group,
      circuit: forCancel ? 'cancel' : ACCOUNT_CIRCUITS[method],
      method,
      url: `${settings.POLYMARKET_CLOB_URL}${path}${query}`,
      // Signed when sent: the request may have waited for its turn.
      headers: () => ({
        ...signedHeaders(key, owner, { timestamp: String(Math.floor(now() / 1000)), method, path, body: body ?? '' }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      }),
      priority,
      user,
      retry: method === 'GET',
      ...(body === undefined ? {} : { body }),
      ...(cost === undefined ? {} : { cost }),
      // Once an order may have been sent, only its answer shows the result: it is not aborted.
      ...(signal && method !== 'POST' ? { signal } : {}),
    });
  }

  const get: PolymarketAccount['get'] = (path, query = {}) =>
    signed('polymarket:clob/ledger', { method: 'GET', path, query: queryText(query) });

  return {
    wallet,
    derivesKey,
    apiKey: () => keys.of(access, owner),
    get,
    balance: (query, { signal, update = false }) =>
      signed(
        'polymarket:clob/balance',
        {
          method: 'GET',
          path: update ? '/balance-allowance/update' : '/balance-allowance',
          query: queryText({ ...query, signature_type: wallet.signatureType }),
        },
        { signal },
      ),
    async rows(path, query, maxPages) {
      const { pages, end } = await firstPages(maxPages, async (cursor) => {
        const sent = cursor || FIRST_CURSOR;
        const reply = await get(path, { ...query, next_cursor: sent });
        const { data, next_cursor: next } = parseBody('polymarket', ClobPage, reply, path);
        // A missing or repeated cursor is an end too.
        return { data, next: next === LAST_CURSOR || next === sent ? '' : next };
      });
      return { rows: pages.flatMap(({ data }) => data), ended: end === 'last', pages: pages.length };
    },
    send: (call, cost) =>
      signed(call.method === 'POST' ? 'polymarket:clob/order' : 'polymarket:clob/cancel', call, { cost }),
  };
}
