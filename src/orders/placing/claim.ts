import type { Claim } from '../claims.ts';
import type { OrderContext } from '../context.ts';
import { requireOperatorAllows } from '../default-clients.ts';
import { overDay, requireAllowed, type OrderLimits } from '../spending-limits.ts';
import type { Draft } from './prepare.ts';

/**
 * Records that the order is about to be sent. Throws 422 where the limits of the user or the operator forbid it. Most users have
 * none, which the claim sees by itself. An earlier order keeps its key unless this one takes it, so limits are read first where there is one.
 */
export async function claimOrder(context: OrderContext, draft: Draft): Promise<Claim['kind']> {
  const { store } = context;
  const free = draft.previous === null ? await store.claim(draft, null) : null;
  if (free && free.kind !== 'limited') return free.kind;
  const limits = await requireWithinLimits(context, draft);
  const claim = await store.claim(draft, limits);
  if (claim.kind === 'over_day') throw overDay(limits, draft.notional, claim.spent);
  // A limit that was set meanwhile keeps an order from being claimed like a client id that is used.
  if (claim.kind === 'client_id_used') await requireWithinLimits(context, draft);
  return claim.kind;
}

/** The limits of the order's user, which allow it as far as it is alone, like those of the operator for a default client. */
export async function requireWithinLimits(context: OrderContext, { row, notional }: Draft): Promise<OrderLimits> {
  const limits = await context.limits(row.userId);
  requireAllowed(limits, notional);
  if (row.credentialId === null) requireOperatorAllows(await context.operatorLimits(), notional);
  return limits;
}
