import { PlatformError } from '../../../core/errors.ts';
import type { CancelTarget, Cancellation } from '../../order-contract.ts';
import { parseBody } from '../../parse-rows.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { ClobCancelled } from './rows.ts';
import { partsOf } from '../../../core/parts.ts';

/** Orders per call, each of which counts: a signer may cancel 80 a second. */
const AT_ONCE = 40;

/** One attempt per order, independent of the others. Throws if the credential is rejected. */
export async function cancelOrders(
  account: PolymarketAccount,
  targets: readonly CancelTarget[],
): Promise<Cancellation[]> {
  const results: Cancellation[] = [];
  for (const part of partsOf(targets, AT_ONCE)) {
    const ids = part.map(({ orderId }) => orderId.toLowerCase());
    results.push(...(await cancelSome(account, ids)));
  }
  return results;
}

async function cancelSome(account: PolymarketAccount, ids: readonly string[]): Promise<Cancellation[]> {
  const [only] = ids;
  const call =
    ids.length === 1
      ? { path: '/order', body: JSON.stringify({ orderID: only }) }
      : { path: '/orders', body: JSON.stringify(ids) };
  try {
    const reply = await account.send({ method: 'DELETE', ...call }, ids.length);
    const { canceled, not_canceled: kept } = parseBody('polymarket', ClobCancelled, reply, call.path);
    return ids.map((id) => {
      const detail = kept.get(id) ?? '';
      const result = canceled.includes(id) ? 'cancelled' : keptResult(detail);
      return { result, httpStatus: reply.status, detail };
    });
  } catch (error) {
    if (!(error instanceof PlatformError) || error.kind === 'unauthorized') throw error;
    return ids.map(() => ({ result: 'unconfirmed', httpStatus: error.status, detail: error.detail }));
  }
}

/** Why an order was not cancelled; '' if the answer does not name it. */
function keptResult(reason: string): Cancellation['result'] {
  if (reason === '') return 'unconfirmed';
  return /not found|already/i.test(reason) ? 'not_open' : 'refused';
}
