import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import { accountName } from '../http/limit-group.ts';
import type { PlatformReply, PlatformRequest } from '../http/request.ts';
import type { AdapterDeps, ReadContext } from '../contract.ts';
import { answeredUs, parseBody } from '../parse-rows.ts';
import type { KalshiUrl } from './manifest.ts';
import { type KalshiKeySetting, operatorKey } from './operator-key.ts';
import { ReadTier } from './read-tier.ts';
import { kalshiSigner } from './sign.ts';

export type KalshiQuery = Record<string, string | number | undefined>;

/** One page of a list: its raw rows and the cursor of the next page, '' after the last. */
export interface KalshiPage {
  rows: unknown[];
  cursor: string;
  receivedAt: string;
  /** When Kalshi answered, by its own clock, Unix µs. */
  answeredUs: number | undefined;
}

/** Reads of Kalshi's public endpoints. */
export interface KalshiClient {
  get(path: string, query: KalshiQuery, context: ReadContext): Promise<PlatformReply>;
  /** One page of the list in field `key`. */
  page(path: string, key: string, query: KalshiQuery, context: ReadContext): Promise<KalshiPage>;
  /** Every page of a list. A page before the last may be short or empty: only an empty cursor ends the list. */
  pages(path: string, key: string, query: KalshiQuery, context: ReadContext): AsyncGenerator<KalshiPage>;
}

/** All series come in one reply of many megabytes; a page of events with their markets may be as large. */
const LARGE = { maxBytes: 64 * 1024 * 1024, timeoutMs: 60_000 };

const Cursor = z.object({ cursor: z.string().nullish() });
/** A page with its list in field `key`. */
export const listOf = (key: string) => Cursor.extend({ [key]: z.array(z.unknown()) });

/** `?name=value…` without undefined or empty values. */
export function queryText(query: KalshiQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

const ACCOUNT_LIMITS = '/account/limits';

/** After a rejected signature, reads are unsigned for this long. */
const UNSIGNED_MS = 600_000;

/** What changes when the operator's key signs a read: Kalshi then allows four times as many. */
type Signing = (url: string) => Pick<PlatformRequest, 'group' | 'account' | 'headers'>;

function signing({ settings, now }: Pick<AdapterDeps<KalshiKeySetting>, 'settings' | 'now'>): Signing | null {
  const key = operatorKey(settings);
  if ('missing' in key) return null;
  const signer = kalshiSigner(key, now);
  const account = accountName(key.api_key_id, key.private_key);
  return (url) => ({ group: 'kalshi:read', account, headers: () => signer('GET', url) });
}

/** Signs with the operator's key if there is one, and not for a while after Kalshi rejected it: public data needs no key. */
export function createKalshiClient(deps: AdapterDeps<KalshiUrl | KalshiKeySetting>): KalshiClient {
  const { http, settings, now } = deps;
  const signed = signing(deps);
  const tier = new ReadTier(() => {
    const url = `${settings.KALSHI_API_URL}${ACCOUNT_LIMITS}`;
    const request = { platform: 'kalshi', method: 'GET', url, priority: 'poll', retry: false } as const;
    return http.send({ ...request, group: 'kalshi:anonymous', ...signed?.(url) });
  }, now);
  let unsignedUntilMs = 0;

  const get: KalshiClient['get'] = async (path, query, context) => {
    const { priority, user, isUrgent, isAskedOnce, failedBefore, forOrder, signal } = context;
    const url = `${settings.KALSHI_API_URL}${path}${queryText(query)}`;
    const request: PlatformRequest = {
      platform: 'kalshi',
      group: 'kalshi:anonymous',
      method: 'GET',
      url,
      priority,
      user,
      isUrgent,
      forOrder,
      failedBefore,
      retry: isAskedOnce !== true,
      ...(path === '/series' || path === '/events' ? LARGE : {}),
      ...(signal ? { signal } : {}),
    };
    if (!signed || now() < unsignedUntilMs) return http.send(request);
    try {
      const reply = await http.send({ ...request, ...signed(url), cost: tier.cost });
      tier.refresh();
      return reply;
    } catch (error) {
      if (!(error instanceof PlatformError && error.kind === 'unauthorized')) throw error;
      unsignedUntilMs = now() + UNSIGNED_MS;
      return http.send(request);
    }
  };

  const page: KalshiClient['page'] = async (path, key, query, context) => {
    const reply = await get(path, query, context);
    const body: Record<string, unknown> = parseBody('kalshi', listOf(key), reply);
    return {
      rows: body[key] as unknown[],
      cursor: typeof body.cursor === 'string' ? body.cursor : '',
      receivedAt: reply.receivedAt,
      answeredUs: answeredUs(reply),
    };
  };

  async function* pages(...[path, key, query, context]: Parameters<KalshiClient['pages']>) {
    let cursor = '';
    do {
      const next: KalshiPage = await page(path, key, { ...query, cursor }, context);
      yield next;
      if (next.cursor !== '' && next.cursor === cursor) {
        throw new PlatformError('kalshi', 'bad_answer', { detail: `${path}: the cursor does not move` });
      }
      cursor = next.cursor;
    } while (cursor !== '');
  }

  return { get, page, pages };
}
