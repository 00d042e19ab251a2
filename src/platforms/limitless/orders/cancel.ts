import { PlatformError } from '../../../core/errors.ts';
import { answerWords } from '../../http/errors.ts';
import type { Cancellation, CancelTarget } from '../../order-contract.ts';
import type { AccountClient, LimitlessAccess } from '../signed-client.ts';
import { LimitlessCancelBatch } from './rows.ts';
import { partsOf } from '../../../core/parts.ts';

/** Maximum ids per batch. */
const BATCH = 50;
const NOT_OPEN = /not found or already cancell?ed/i;
/** 401 about an order of another account: the token itself is accepted. */
const NOT_OURS = /\bowner\b/i;
const CANCELLED = /\bcancell?ed\b/i;

/** One attempt per target: a single order by DELETE, several of one market as a batch. */
export async function cancelOrders(
  account: AccountClient,
  targets: readonly CancelTarget[],
  access: LimitlessAccess,
): Promise<Cancellation[]> {
  const results = new Map<string, Cancellation>();
  for (const marketRef of new Set(targets.map((target) => target.marketRef))) {
    const market = targets.filter((target) => target.marketRef === marketRef);
    const ids = [...new Set(market.map(({ orderId }) => orderId))];
    for (const batch of partsOf(ids, BATCH)) {
      const [only] = batch;
      const done =
        batch.length === 1 && only !== undefined
          ? [await cancelOne(account, only, access)]
          : await cancelBatch(account, batch, access);
      for (const [at, id] of batch.entries()) results.set(id, done[at] ?? UNANSWERED);
    }
  }
  return targets.map(({ orderId }) => results.get(orderId) ?? UNANSWERED);
}

const UNANSWERED: Cancellation = { result: 'unconfirmed', httpStatus: 0, detail: 'no answer about this order' };

async function cancelOne(account: AccountClient, orderId: string, access: LimitlessAccess): Promise<Cancellation> {
  // A DELETE with a body or a content type is rejected.
  const path = `/orders/${encodeURIComponent(orderId)}`;
  const call = { circuit: 'cancel', method: 'DELETE', path, retry: false } as const;
  const { status, detail, json } = await answered(account, call, access);
  // An answer without JSON comes from a gateway.
  const spoken = json != null;
  const absent = spoken && (status === 404 || status === 401 || NOT_OPEN.test(detail));
  const confirmed = spoken && status === 200 && CANCELLED.test(detail);
  return { result: absent ? 'not_open' : confirmed ? 'cancelled' : 'unconfirmed', httpStatus: status, detail };
}

/** 200 means all, 207 some, 400 none; the result of an order is decided by the list that contains it. */
async function cancelBatch(account: AccountClient, ids: string[], access: LimitlessAccess): Promise<Cancellation[]> {
  const body = JSON.stringify({ orderIds: ids });
  const call = { circuit: 'cancel', method: 'POST', path: '/orders/cancel-batch', body, retry: false } as const;
  const { status, detail, json } = await answered(account, call, access);
  const lists = LimitlessCancelBatch.safeParse(json).data;
  const cancelled = new Set(lists?.canceled);
  return ids.map((id) => {
    if (cancelled.has(id)) return { result: 'cancelled', httpStatus: status, detail };
    const failure = lists?.failed.find(({ orderId }) => orderId === id);
    if (!failure) return { result: 'unconfirmed', httpStatus: status, detail };
    const absent = failure.reason === 'ORDER_NOT_FOUND' || NOT_OPEN.test(failure.message ?? '');
    // An unknown error does not state that the order works.
    return {
      result: absent ? 'not_open' : 'unconfirmed',
      httpStatus: status,
      detail: `${failure.reason ?? ''}: ${failure.message ?? ''}`,
    };
  });
}

/** Status, text and body of one attempt, whether it succeeded or not; status 0 without an answer. */
async function answered(
  account: AccountClient,
  call: Parameters<AccountClient>[0],
  access: LimitlessAccess,
): Promise<{ status: number; detail: string; json: unknown }> {
  try {
    const { status, text, json } = await account(call, access);
    return { status, detail: answerWords(text, json), json };
  } catch (error) {
    if (!(error instanceof PlatformError) || isRejectedToken(error)) throw error;
    return { status: error.status, detail: `${error.kind}: ${error.detail}`, json: error.body };
  }
}

const isRejectedToken = ({ kind, status, detail }: PlatformError): boolean =>
  kind === 'unauthorized' && !(status === 401 && NOT_OURS.test(detail));
