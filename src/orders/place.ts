import { setTimeout as sleep } from 'node:timers/promises';
import { parseUsd } from '../core/decimal.ts';
import type { DefaultClientLimits } from '../accounts/default-clients.ts';
import { ApiError } from '../core/errors.ts';
import { requireOperatorAllows } from './default-clients.ts';
import { createDrafter, FLIGHT_MS, type DrafterDeps } from './sign.ts';
import { bodyHash } from './order-ids.ts';
import { overDay, requireAllowed, type OrderLimits } from './spending-limits.ts';
import type { OrderBody } from './request.ts';
import type { OrderRow } from './order-row.ts';
import { createSender, type Placed, type SenderDeps } from './send.ts';

/** A repeat waits this long for the first request of its key. */
const WAIT_MS = 25_000;
const POLL_MS = 100;
/** A key may be found used, found to be over, and be taken by another process before it is taken here. */
const MAX_CLAIMS = 3;

/** A request's key, and what it asked for. */
interface Claimant {
  userId: string;
  key: string;
  hash: string;
}

export interface PlacerDeps extends DrafterDeps, SenderDeps {
  limits(userId: string): Promise<OrderLimits>;
  /** What the operator allows through the default clients. */
  operatorLimits(): Promise<DefaultClientLimits>;
}

/**
 * Places orders, each idempotency key at most once. A request checks and signs, claims the key with one INSERT that also says
 * that the order is about to leave, sends once, and writes the result. Repeats wait for the first and get the same answer.
 */
export function createPlacer(deps: PlacerDeps) {
  const { store, limits: limitsOf, operatorLimits, now } = deps;
  const draft = createDrafter(deps);
  const send = createSender(deps);
  /** Requests with a key that run in this process: repeats wait for them without asking the store. */
  const flights = new Map<string, { hash: string; placed: Promise<Placed> }>();

  /** The result of an earlier request of the key, once it is known; `previous` names the order of a key whose day is over. */
  async function earlier({ userId, key, hash }: Claimant): Promise<{ placed: Placed | null; previous: string | null }> {
    for (const end = performance.now() + WAIT_MS; ; await sleep(POLL_MS)) {
      const known = await store.byKey(userId, key, now());
      if (!known?.kept) return { placed: null, previous: known?.row.id ?? null };
      const { row } = known;
      if (row.bodyHash !== hash) throw otherBody();
      const running = row.state === 'sending' && now() - row.createdAt.getTime() < FLIGHT_MS;
      if (!running) return { placed: answerOf(row), previous: null };
      if (performance.now() > end) throw stillRunning();
    }
  }

  /**
   * Throws 422 where the limits of the user or the operator forbid the order. Most users have none, which the claim sees by itself. An earlier order
   * keeps its key unless this one takes it, so limits are read first where there is one.
   */
  async function claimed(row: OrderRow, previous: string | null) {
    const free = previous === null ? await store.claim(row, null, null) : null;
    if (free && free.kind !== 'limited') return free.kind;
    const limits = await allowing(row);
    const claim = await store.claim(row, limits, previous);
    if (claim.kind === 'over_day') throw overDay(limits, parseUsd(row.notional), claim.spent);
    // A limit that was set meanwhile keeps an order from being claimed like a client id that is used.
    if (claim.kind === 'client_id_used') await allowing(row);
    return claim.kind;
  }

  /** The limits of the order's user, which allow it as far as it is alone, like those of the operator for a default client. */
  async function allowing(row: OrderRow): Promise<OrderLimits> {
    const notional = parseUsd(row.notional);
    const limits = await limitsOf(row.userId);
    requireAllowed(limits, notional);
    if (row.credentialId === null) requireOperatorAllows(await operatorLimits(), notional);
    return limits;
  }

  /** null: the key is used. `previous`: the order that held it more than a day ago, and gives it up now. */
  async function attempt(
    userId: string,
    body: OrderBody,
    requestId: string,
    { hash, previous }: { hash: string; previous: string | null },
  ): Promise<Placed | null> {
    const ready = await draft.sign(await draft.read(userId, body), hash, previous);
    const claim = await claimed(ready.row, previous);
    if (claim === 'claimed') return send(ready, requestId);
    if (claim === 'client_id_used') throw clientIdUsed(ready.row.clientOrderId);
    return null;
  }

  /**
   * Most keys are new, which the claim shows: a key is looked up only where it is used, or where a request fails, as that may be the
   * repeat of one that did not. Nothing was sent where the key was used, so another attempt is the first.
   */
  async function placedOnce(claimant: Claimant, body: OrderBody, requestId: string): Promise<Placed> {
    const { userId, hash } = claimant;
    let previous: string | null = null;
    for (let attempts = 0; attempts < MAX_CLAIMS; attempts += 1) {
      try {
        const made = await attempt(userId, body, requestId, { hash, previous });
        if (made) return made;
      } catch (error) {
        const { placed } = await earlier(claimant);
        if (placed) return placed;
        throw error;
      }
      const known = await earlier(claimant);
      if (known.placed) return known.placed;
      ({ previous } = known);
    }
    throw stillRunning();
  }

  async function dryRun(userId: string, body: OrderBody, requestId: string): Promise<Placed> {
    const { row, client } = await draft.sign(await draft.read(userId, body), '', null);
    await allowing(row);
    const attempt = { ...client.account, orderId: null, rowId: null, action: 'dry_run', result: 'signed' } as const;
    await store.attempted({ ...attempt, httpStatus: 0, detail: '', ms: 0, requestId });
    const shown = { orderId: `dry_run:${row.clientOrderId}`, status: 'pending', filledSize: '0' } as const;
    const metadata = { ...row.metadata, wire: row.wire };
    return { row: { ...row, ...shown, remainingSize: row.size, metadata }, outcome: 'dry_run' };
  }

  return {
    async place(userId: string, body: OrderBody, requestId: string): Promise<Placed> {
      const { idempotency_key: key, dry_run: dry, ...asked } = body;
      if (dry) return dryRun(userId, body, requestId);
      if (key === undefined) {
        const made = await attempt(userId, body, requestId, { hash: '', previous: null });
        if (made) return made;
        throw stillRunning();
      }
      const claimant = { userId, key, hash: bodyHash(asked) };
      const name = JSON.stringify([userId, key]);
      const flight = flights.get(name);
      if (flight) {
        if (flight.hash !== claimant.hash) throw otherBody();
        return { row: (await flight.placed).row, outcome: 'replay' };
      }
      const placed = placedOnce(claimant, body, requestId).finally(() => flights.delete(name));
      flights.set(name, { hash: claimant.hash, placed });
      return placed;
    },
  };
}

/** A repeat is answered by the order as it is now; by the same error when the platform had refused it. */
function answerOf(row: OrderRow): Placed {
  if (row.refusal) {
    const { status, message, resolution, errorText } = row.refusal;
    throw new ApiError(status, message, { resolution, errorText });
  }
  return { row, outcome: 'replay' };
}

const otherBody = (): ApiError =>
  new ApiError(409, 'Idempotency key used for another order', {
    resolution: 'Repeat the first body exactly, or use a new key.',
    errorText: 'idempotency_key: kept for 24 hours, with another body',
  });

const stillRunning = (): ApiError =>
  new ApiError(409, 'The first request with this idempotency key is still running', {
    resolution: 'Repeat the request in a few seconds.',
    errorText: 'idempotency_key: claimed, not answered yet',
  });

const clientIdUsed = (id: string): ApiError =>
  new ApiError(409, 'Client order id already used', {
    resolution: 'Use another client_order_id; a platform accepts each one once.',
    errorText: `client_order_id: ${JSON.stringify(id)} names another order of this account`,
  });
