import { createHmac } from 'node:crypto';
import type { LimitlessCredential } from './credential.ts';
import { NotSentError } from '../http/errors.ts';
import { accountName } from '../http/limit-group.ts';
import type { Circuit, PlatformReply, PlatformRequest } from '../http/request.ts';
import type { OrderAccess } from '../order-contract.ts';
import type { AdapterDeps } from '../contract.ts';
import type { LimitlessUrl } from './manifest.ts';

export type LimitlessAccess = OrderAccess<'limitless'>;

interface AccountCall {
  circuit: Exclude<Circuit, 'read'>;
  method: PlatformRequest['method'];
  /** Including the query. */
  path: string;
  /** Sent as JSON. Without it there is no content type either: Limitless rejects a DELETE that has one. */
  body?: string;
  retry: boolean;
  /** An order waits for this read: it is sent even while other reads of accounts are suspended. */
  forOrder?: true;
  /** Unix ms after which the call must not be sent. */
  leaveByMs?: number;
}

/** Sends a call for `credential`, signed again for each attempt. */
export type AccountClient = (
  call: AccountCall,
  access: Pick<LimitlessAccess, 'credential' | 'priority' | 'signal' | 'guest' | 'forCancel'>,
) => Promise<PlatformReply>;

/** Headers of an HMAC scoped token: SHA-256 over time, method, path with query, and body, exactly as sent. */
export function tokenHeaders(
  { token_id: tokenId, secret }: Pick<LimitlessCredential, 'token_id' | 'secret'>,
  { method, target, body }: { method: string; target: string; body: string },
  nowMs: number,
): Record<string, string> {
  const timestamp = new Date(nowMs).toISOString();
  const signature = createHmac('sha256', Buffer.from(secret, 'base64'))
    .update(`${timestamp}\n${method}\n${target}\n${body}`)
    .digest('base64');
  return { 'lmts-api-key': tokenId, 'lmts-timestamp': timestamp, 'lmts-signature': signature };
}

export const accountOf = ({ token_id: id, secret }: LimitlessCredential): string => accountName(id, secret);

export function createAccountClient({ http, settings, now }: AdapterDeps<LimitlessUrl>): AccountClient {
  return (
    { circuit, method, path, body, retry, forOrder, leaveByMs },
    { credential, priority, signal, guest, forCancel },
  ) => {
    const url = `${settings.LIMITLESS_API_URL}${path}`;
    const { pathname, search } = new URL(url);
    const target = pathname + search;
    return http.send({
      platform: 'limitless',
      group: 'limitless:all',
      // Calls with a token count only against that token.
      account: accountOf(credential),
      circuit: forCancel ? 'cancel' : circuit,
      method,
      url,
      headers: () => {
        if (leaveByMs !== undefined && now() > leaveByMs) {
          throw new NotSentError('limitless', 'refused', { detail: 'waited too long in the queue' });
        }
        const signed = tokenHeaders(credential, { method, target, body: body ?? '' }, now());
        return body === undefined ? signed : { ...signed, 'content-type': 'application/json' };
      },
      priority,
      user: guest,
      retry,
      forOrder,
      ...(leaveByMs === undefined ? {} : { waitMs: Math.max(0, leaveByMs - now()) }),
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    });
  };
}
