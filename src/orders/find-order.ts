import { randomUUID } from 'node:crypto';
import { ApiError, platformName } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { noCredential, type OrderClient } from './clients.ts';
import type { OrderContext } from './context.ts';
import { foreignRow, type OrderRow } from './order-row.ts';

/** An order as identified by a caller. */
export interface OrderName {
  userId: string;
  platform: Platform;
  /** The platform's order id, or client:<client order id>. */
  name: string;
  credentialId: number | undefined;
}

/** Why an order is looked for: a cancel is not stopped by account reads that fail. */
type Purpose = 'read' | 'cancel';

/** A stored order and the client to read or cancel it with. */
export interface FoundOrder {
  row: OrderRow;
  client: OrderClient;
}

/** A stored order to read; without a client it is answered as stored, because its user has no credential left. */
interface ReadableOrder {
  row: OrderRow;
  client: OrderClient | null;
}

/** Finds a stored order by name, else one in the caller's own account, which is then stored. 404 if there is none. */
export async function findOrder(context: OrderContext, wanted: OrderName, purpose: 'cancel'): Promise<FoundOrder>;
export async function findOrder(context: OrderContext, wanted: OrderName, purpose: Purpose): Promise<ReadableOrder>;
export async function findOrder(context: OrderContext, wanted: OrderName, purpose: Purpose): Promise<ReadableOrder> {
  const { store, clients, now } = context;
  const { userId, platform, name: asked, credentialId } = wanted;
  const name = asked.startsWith('client:') ? asked : MANIFESTS[platform].orderIdOf(asked);
  if (name === null) throw notFound(platform, asked);
  const row = await store.named(userId, platform, name, credentialId);
  // An order is read with the credential that placed it, unless the caller names one, or that was deleted or cannot be opened.
  const own = row && credentialId === undefined ? await clients.reopen(row, 'live').catch(unopened) : null;
  const client = own ?? (await clients.openIfAny(userId, platform, credentialId, 'manage'));
  if (row && (client || (purpose === 'read' && row.origin === 'service'))) return { row, client };
  if (!client) throw noCredential(platform);
  const { account } = client;
  const askedAt = new Date(now());
  const reader = purpose === 'cancel' ? client.forCancel() : client;
  const order = account.credentialId === null || name.startsWith('client:') ? null : await reader.get(name);
  if (!order) throw notFound(platform, name);
  await store.insertForeign([foreignRow({ id: randomUUID(), ...account }, order, askedAt)]);
  const made = await store.named(userId, platform, order.orderId, account.credentialId ?? undefined);
  if (!made) throw notFound(platform, name);
  return { row: made, client };
}

function unopened(error: unknown): null {
  if (error instanceof ApiError) return null;
  throw error;
}

const notFound = (platform: Platform, name: string): ApiError =>
  new ApiError(404, 'Order not found', {
    resolution: 'Check the id, the platform and the credential; GET /v1/api/orders lists the orders of this account.',
    errorText: `no order ${JSON.stringify(name)} on ${platformName(platform)}`,
  });
