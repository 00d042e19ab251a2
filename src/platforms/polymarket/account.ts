import { PlatformError } from '../../errors.ts';
import type { PlatformReply } from '../http.ts';
import type { LimitGroupName } from '../limits.ts';
import type { OrderAccess } from '../orders.ts';
import type { AdapterDeps } from '../platform.ts';
import { parseBody } from '../rows.ts';
import { walletAddress } from '../wallet-address.ts';
import { signedHeaders, type ApiKey, type ApiKeys } from './api-keys.ts';
import { queryText, type Query } from './client.ts';
import type { Wallet } from './order-request.ts';
import { ClobPage, FIRST_CURSOR, LAST_CURSOR } from './order-rows.ts';

/** Private calls of one wallet. */
export interface PolymarketAccount {
  readonly wallet: Wallet;
  apiKey(): Promise<ApiKey>;
  get(path: string, query?: Query): Promise<PlatformReply>;
  /** Rows of a list until it ends or `maxPages` are read. */
  rows(path: string, query: Query, maxPages: number): Promise<{ rows: unknown[]; ended: boolean }>;
  /** One attempt. */
  send(call: WriteCall, cost?: number): Promise<PlatformReply>;
}

export interface WriteCall {
  method: 'POST' | 'DELETE';
  path: string;
  body: string;
}

export function createPolymarketAccount(
  { http, urls, now }: AdapterDeps,
  keys: ApiKeys,
  access: OrderAccess<'polymarket'>,
): PolymarketAccount {
  const { credential, priority, signal } = access;
  const owner = walletAddress(credential.private_key);

  async function signed(
    group: LimitGroupName,
    call: { method: 'GET' | 'POST' | 'DELETE'; path: string; query?: string; body?: string },
    cost?: number,
  ): Promise<PlatformReply> {
    const key = await keys.of(access, owner);
    const { method, path, query = '', body } = call;
    try {
      return await http.send({
        platform: 'polymarket',
        group,
        method,
        url: `${urls.polymarketClob}${path}${query}`,
        // Signed as it leaves: it may have waited for its turn.
        headers: () => ({
          ...signedHeaders(key, owner, { timestamp: String(Math.floor(now() / 1000)), method, path, body: body ?? '' }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        }),
        priority,
        retry: method === 'GET',
        ...(body === undefined ? {} : { body }),
        ...(cost === undefined ? {} : { cost }),
        // Once an order may have left, only its answer tells what became of it: nobody calls it off.
        ...(signal && method !== 'POST' ? { signal } : {}),
      });
    } catch (error) {
      if (error instanceof PlatformError && error.kind === 'unauthorized') keys.forget(owner);
      throw error;
    }
  }

  const get: PolymarketAccount['get'] = (path, query = {}) =>
    signed('polymarket:clob/ledger', { method: 'GET', path, query: queryText(query) });

  return {
    wallet: { signatureType: credential.signature_type, owner, funder: credential.funder ?? null },
    apiKey: () => keys.of(access, owner),
    get,
    async rows(path, query, maxPages) {
      const rows: unknown[] = [];
      let cursor: string = FIRST_CURSOR;
      for (let page = 0; page < maxPages && cursor !== LAST_CURSOR; page += 1) {
        const reply = await get(path, { ...query, next_cursor: cursor });
        const { data, next_cursor: next } = parseBody('polymarket', ClobPage, reply, path);
        rows.push(...data);
        // A missing cursor, or the same one again, is an end too.
        cursor = next === '' || next === cursor ? LAST_CURSOR : next;
      }
      return { rows, ended: cursor === LAST_CURSOR };
    },
    send: (call, cost) =>
      signed(call.method === 'POST' ? 'polymarket:clob/order' : 'polymarket:clob/cancel', call, cost),
  };
}
