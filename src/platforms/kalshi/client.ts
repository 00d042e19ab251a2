import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import { accountName } from '../http/limit-group.ts';
import type { PlatformReply, PlatformRequest } from '../http/request.ts';
import { type AdapterDeps, type ReadContext, requestOf } from '../contract.ts';
import { everyPage, type ListPage } from '../list-pages.ts';
import { answeredUs, parseBody } from '../parse-rows.ts';
import type { KalshiUrl } from './manifest.ts';
import { type KalshiKeySetting, operatorKey } from './operator-key.ts';
import { ReadTier } from './read-tier.ts';
import { kalshiSigner } from './sign.ts';

export type KalshiQuery = Record<string, string | number | undefined>;

/** One page of a list, with its unparsed rows. */
export interface KalshiPage extends ListPage {
  rows: unknown[];
  receivedAt: string;
  /** When Kalshi answered, by its own clock, Unix µs. */
  answeredUs: number | undefined;
}

/** Reads of Kalshi's public endpoints. */
export interface KalshiClient {
  get(path: string, query: KalshiQuery, context: ReadContext): Promise<PlatformReply>;
  /** One page of the list in field `key`. */
  page(path: string, key: string, query: KalshiQuery, context: ReadContext): Promise<KalshiPage>;
  pages(path: string, key: string, query: KalshiQuery, context: ReadContext): AsyncGenerator<KalshiPage>;
}

/** All series come in one reply of many megabytes; a page of events with their markets may be as large. */
const LARGE = { maxBytes: 64 * 1024 * 1024, timeoutMs: 60_000 };

const Cursor = z.object({ cursor: z.string().nullish() });

/** The page in a reply, whose list is in field `key`; null is a list without rows. */
export function pageIn(reply: PlatformReply, path: string, key: string): KalshiPage {
  const list = Cursor.extend({ [key]: z.array(z.unknown()).nullable() });
  const body: Record<string, unknown> = parseBody('kalshi', list, reply, path);
  return {
    rows: (body[key] ?? []) as unknown[],
    next: typeof body.cursor === 'string' ? body.cursor : '',
    receivedAt: reply.receivedAt,
    answeredUs: answeredUs(reply),
  };
}

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
    const url = `${settings.KALSHI_API_URL}${path}${queryText(query)}`;
    const request: PlatformRequest = {
      platform: 'kalshi',
      group: 'kalshi:anonymous',
      method: 'GET',
      url,
      isUrgent: context.isUrgent,
      ...requestOf(context),
      ...(path === '/series' || path === '/events' ? LARGE : {}),
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

  const page = async (...[path, key, query, context]: Parameters<KalshiClient['page']>): Promise<KalshiPage> =>
    pageIn(await get(path, query, context), path, key);

  return {
    get,
    page,
    pages: (path, key, query, context) =>
      everyPage('kalshi', path, (cursor) => page(path, key, { ...query, cursor }, context)),
  };
}
