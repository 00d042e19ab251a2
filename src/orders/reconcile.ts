import { sharedAbort, type Stop } from '../core/time.ts';
import type { Lease } from '../stores/shared/shared.ts';
import { ApiError, reasonOf } from '../core/errors.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { isOver } from '../core/order-model.ts';
import type { OrderContext } from './context.ts';
import type { Attempt } from './attempts.ts';
import { createHalt } from './halt.ts';
import type { OrderRow } from './order-row.ts';
import {
  isUnresolved,
  recheckByAge,
  recheckOfFailed,
  recheckOfFills,
  recheckOfNeverArrived,
  recheckOfPending,
  recheckOfUnknown,
  recheckWithoutCredential,
} from './recheck.ts';
import { recheckOrders } from './sync.ts';

const TICK_MS = 500;
const LEASE_MS = 15_000;
const BATCH = 50;

const CREDENTIAL_GONE = 'the credential that placed it was deleted';

/**
 * Rechecks orders that are due: sent without an answer, left in flight by a process that ended, or filled without known fees. Also
 * cancels the orders that the operator's kill switch covers. Both run in the one process that holds the lease, or in each while Redis is
 * unavailable, and on each platform by itself: calls to a platform that does not answer take long.
 */
export function createReconciler(context: OrderContext) {
  const { store, shared, clock, now, log } = context;
  let lease: Lease | null = null;
  let stopLooking: Stop | undefined;
  const stopping = sharedAbort();
  /** Rounds of work by name. */
  const running = new Map<string, Promise<void>>();
  const halts = PLATFORMS.map((platform) => ({ platform, halt: createHalt(context, platform) }));

  async function hold(): Promise<boolean> {
    // While Redis is away every process does this work: a second recheck or cancel does no harm, a late one does.
    if (!shared.healthy()) return true;
    if (lease && (await lease.renew(LEASE_MS))) return true;
    lease = await shared.lease('orders:reconcile', LEASE_MS);
    return lease !== null;
  }

  const failed = (error: unknown): void => log.error({ err: error }, 'Failed to recheck orders');

  /** Begins a round of work, unless the one before it still runs. */
  function begin(name: string, round: () => Promise<unknown>): void {
    if (running.has(name)) return;
    const ends = round()
      .then(() => {}, failed)
      .finally(() => running.delete(name));
    running.set(name, ends);
  }

  /** Begins what is due, if this process holds the lease. */
  async function look(): Promise<void> {
    const { due, isHalted } = await store.work(now());
    if ((due.length === 0 && !isHalted) || !(await hold()) || stopping.signal.aborted) return;
    for (const platform of due) begin(`recheck ${platform}`, () => recheckDue(platform));
    if (!isHalted) return;
    for (const { platform, halt } of halts) begin(`cancel ${platform}`, async () => halt.cancel(await halt.due()));
  }

  async function recheckDue(platform: Platform): Promise<void> {
    const rows = await store.due(platform, now(), BATCH);
    await Promise.all(rows.map((row) => recheck(context, row, stopping.signal)));
  }

  return {
    async start(): Promise<void> {
      await store.adoptOrphans(now());
      if (stopping.signal.aborted) return;
      stopLooking = clock.every(TICK_MS, () => begin('look', look));
    },
    async stop(): Promise<void> {
      stopping.abort();
      stopLooking?.();
      await Promise.all(running.values());
      await lease?.release();
    },
  };
}

async function recheck(context: OrderContext, row: OrderRow, signal: AbortSignal): Promise<void> {
  const { store, clients, clock, now, log } = context;
  const started = clock.elapsed();
  const attempt = (result: 'found' | 'absent' | 'failed', detail: string): Attempt => ({
    userId: row.userId,
    platform: row.platform,
    credentialId: row.credentialId,
    rowId: row.id,
    orderId: row.orderId,
    action: 'find',
    result,
    httpStatus: 0,
    detail,
    ms: Math.round(clock.elapsed() - started),
    requestId: '',
  });
  try {
    const client = await clients.reopen(row, 'poll');
    if (!client) {
      if (isUnresolved(row)) await store.attemptedOnce(attempt('failed', CREDENTIAL_GONE));
      return await store.recheckLater(row, recheckWithoutCredential(row, now()));
    }
    const [seen = row] = await recheckOrders(context, client, [row], signal);
    if (isUnresolved(row)) await store.attempted(attempt(seen.state === 'placed' ? 'found' : 'absent', seen.status));
    // A report that changed the row has already set its next recheck.
    if (seen.recheckAt?.getTime() === row.recheckAt?.getTime()) await store.recheckLater(row, recheckTime(seen, now()));
  } catch (error) {
    const detail = reasonOf(error);
    log.warn({ order: row.id, platform: row.platform, reason: detail }, 'Failed to recheck an order');
    // A credential that cannot be opened fails each time.
    const record = error instanceof ApiError ? store.attemptedOnce : store.attempted;
    if (isUnresolved(row)) await record(attempt('failed', detail));
    await store.recheckLater(row, recheckOfFailed(row, now()));
  }
}

/** An order that is over is due again only for fills that lack their cost, or because it may arrive after all. */
function recheckTime(row: OrderRow, nowMs: number): Date | null {
  if (isUnresolved(row)) return recheckOfUnknown(row, nowMs);
  const byAge = isOver(row.status) ? null : recheckByAge(row, nowMs);
  return (
    byAge ??
    recheckOfFills(row, row.askedAt, nowMs) ??
    recheckOfPending(row, nowMs) ??
    recheckOfNeverArrived(row, nowMs)
  );
}
