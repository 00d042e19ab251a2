import type { FastifyBaseLogger } from 'fastify';
import { PlatformError, toApiError } from '../errors.ts';
import type { Placement } from '../platforms/orders.ts';
import type { Draft } from './draft.ts';
import { factsFrom, type OrderRow } from './rows.ts';
import type { Attempt, OrderStore } from './store.ts';
import { isOpenFate, nextLook, type OrderTracker } from './tracker.ts';

/** The look for an order that got no answer, before the caller is told that nobody knows. */
const FIRST_LOOK_MS = 3000;

/** What became of a request: sent, sent to an unknown fate, answered by the order that its key stands for, or only signed. */
export interface Placed {
  row: OrderRow;
  how: 'placed' | 'unknown' | 'replay' | 'dry_run';
}

export interface SenderDeps {
  store: OrderStore;
  tracker: OrderTracker;
  now: () => number;
  log: FastifyBaseLogger;
}

/** Sends claimed orders: one attempt, and what became of it is written before it is told. */
export function createSender({ store, tracker, now, log }: SenderDeps) {
  /** The order is out: a store that fails now is logged, and the next look at the order repairs the row. */
  async function kept<T>(row: OrderRow, write: Promise<T>): Promise<T | null> {
    try {
      return await write;
    } catch (error) {
      log.error({ err: error, order: row.id }, 'What became of an order could not be written');
      return null;
    }
  }

  /** A defect of ours: the order may be out. */
  function broken(row: OrderRow, error: unknown): Placement {
    log.error({ err: error, order: row.id }, 'Placing an order broke off');
    return { fate: 'unknown', httpStatus: 0, detail: 'broke off' };
  }

  /** The fate stays open: written, then one short look before the caller is told. */
  async function lookFor({ client, row }: Draft, askedAt: Date, attempt: Attempt): Promise<Placed> {
    const facts = { state: 'unknown', nextCheckAt: nextLook(row.createdAt, now()) } as const;
    const unknown = (await kept(row, store.record(row.id, facts, askedAt, attempt))) ?? { ...row, ...facts };
    const look = tracker.refresh(client, [unknown], AbortSignal.timeout(FIRST_LOOK_MS));
    const [found = unknown] = (await look.catch(() => [unknown])) satisfies OrderRow[];
    return { row: found, how: isOpenFate(found) ? 'unknown' : 'placed' };
  }

  /** Throws the refusal of a platform that did not take the order. */
  return async (draft: Draft, requestId: string): Promise<Placed> => {
    const { client, prepared, row } = draft;
    // Not before the claim, though the clock may have been set back since: what came of it would be taken for older news.
    const askedAt = new Date(Math.max(now(), row.askedAt.getTime()));
    const started = performance.now();
    const placement = asOurs(draft, await prepared.place().catch((error: unknown) => broken(row, error)));
    const { fate, httpStatus, detail } = placement;
    const attempt: Attempt = {
      ...client.account,
      rowId: row.id,
      orderId: fate === 'accepted' ? placement.order.orderId : row.orderId,
      action: 'place',
      result: fate,
      httpStatus,
      detail,
      ms: Math.round(performance.now() - started),
      requestId,
    };
    if (fate === 'accepted') {
      const written = await kept(row, tracker.apply(row, placement.order, askedAt, attempt));
      return { row: written ?? { ...row, ...factsFrom(row, placement.order, askedAt) }, how: 'placed' };
    }
    if (fate === 'rejected') {
      const { status, message, resolution, errorText } = placement.refusal;
      const refusal = { status, message, resolution, errorText };
      const nothing = { filledSize: '0', remainingSize: '0', makerFee: '0', takerFee: '0', nextCheckAt: null };
      const facts = { state: 'rejected', status: 'rejected', updatedAt: askedAt, refusal, ...nothing } as const;
      await kept(row, store.record(row.id, facts, askedAt, attempt));
      throw placement.refusal;
    }
    log.warn({ order: row.id, platform: row.platform, httpStatus, detail }, 'The fate of an order is unknown');
    return lookFor(draft, askedAt, attempt);
  };
}

/** The operator's credential is not the caller's to renew: 502. */
function asOurs({ client: { account }, row }: Draft, placement: Placement): Placement {
  const { fate, httpStatus: status, detail } = placement;
  if (account.credentialId !== null || fate !== 'rejected' || (status !== 401 && status !== 403)) return placement;
  return { ...placement, refusal: toApiError(new PlatformError(row.platform, 'unauthorized', { status, detail })) };
}
