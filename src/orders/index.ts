import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { Credentials } from '../credentials.ts';
import { ApiError, PlatformError } from '../errors.ts';
import type { OrderAdapters } from '../platforms/orders-index.ts';
import { isOver, type OrderStatus } from '../platforms/orders.ts';
import type { BadRow, MarketDirectory, MarketKeys, PlatformData } from '../platforms/platform.ts';
import type { Database } from '../postgres.ts';
import type { Shared } from '../redis.ts';
import type { Platform } from '../schemas.ts';
import { createCanceller } from './cancel.ts';
import { createOrderClients, defaultClients, type OrderClient } from './clients.ts';
import { limitsReader } from './limits.ts';
import { createLocator, type OrderName } from './locate.ts';
import { createPlacer } from './place.ts';
import { createReconciler } from './reconcile.ts';
import type { OrderBody } from './request.ts';
import type { OrderRow } from './rows.ts';
import type { Placed } from './send.ts';
import { createOrderStore, type OrderPosition } from './store.ts';
import { createOrderTracker, isOpenFate, isReadFailure } from './tracker.ts';

export interface OrdersDeps {
  config: Config;
  db: Database;
  shared: Shared;
  log: FastifyBaseLogger;
  now: () => number;
  credentials: Credentials;
  adapters: OrderAdapters;
  platforms: Partial<Record<Platform, PlatformData>>;
  markets: MarketDirectory;
  /** The market of any id a user may send; throws 404. */
  market(platform: Platform, id: string): Promise<MarketKeys>;
  onBadRow: (row: BadRow) => void;
}

export interface OrderFilter {
  userId: string;
  platform: Platform;
  credentialId: number | undefined;
  marketId: string | undefined;
  status: OrderStatus | undefined;
}

export interface OrderPage {
  rows: OrderRow[];
  total: number;
  next: OrderPosition | null;
}

export interface CancelledAll {
  cancelled: OrderRow[];
  open: { row: OrderRow; reason: string }[];
}

/** Orders of users on every platform. */
export interface Orders {
  place(userId: string, body: OrderBody, requestId: string): Promise<Placed>;
  get(name: OrderName): Promise<OrderRow>;
  /** Newest first. The first page brings the store up to the platform; later pages continue it. */
  list(filter: OrderFilter, after: (OrderPosition & { total: number }) | null, limit: number): Promise<OrderPage>;
  cancel(name: OrderName, requestId: string): Promise<OrderRow>;
  /** Everything of the user that works on a platform, through every credential unless one is named. */
  cancelAll(
    userId: string,
    platform: Platform,
    credentialId: number | undefined,
    requestId: string,
  ): Promise<CancelledAll>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const CANCEL_BATCH = 50;
const MAX_CANCELS = 2000;

export function createOrders(deps: OrdersDeps): Orders {
  const { config, db, shared, log, now, credentials, adapters, platforms, markets, onBadRow } = deps;
  const store = createOrderStore(db);
  const tracker = createOrderTracker({ store, now, log });
  const clients = createOrderClients({ adapters, credentials, defaults: defaultClients(config), markets, onBadRow });
  const locate = createLocator({ store, clients, now });
  const canceller = createCanceller({ store, tracker, now });
  const reconciler = createReconciler({ store, tracker, clients, shared, now, log });
  const placer = createPlacer({
    store,
    tracker,
    clients,
    market: deps.market,
    async book(market, outcomeIndex) {
      const read = platforms[market.platform]?.orderBook(market, { priority: 'live', onBadRow });
      const book = (await read) ?? null;
      const side = [book?.yes, book?.no][outcomeIndex];
      return book && side ? { side, tickSize: book.tickSize } : null;
    },
    limits: limitsReader(db),
    now,
    log,
  });

  /** A credential that the platform rejects does not keep the others from being used. */
  async function cancelThrough(client: OrderClient, requestId: string): Promise<CancelledAll> {
    const result: CancelledAll = { cancelled: [], open: [] };
    try {
      await cancelWorking(client, requestId, result);
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof PlatformError)) throw error;
      const rows = await store.working(client.account, null, MAX_CANCELS);
      result.open = rows.map((row) => ({ row, reason: error.message }));
    }
    return result;
  }

  /** A platform that does not list now is still told to cancel what we know of; nothing is looked up before that. */
  async function cancelWorking(client: OrderClient, requestId: string, result: CancelledAll): Promise<void> {
    await tracker.takeIn(client, null).catch((error: unknown) => {
      if (!isReadFailure(error)) throw error;
      log.warn({ platform: client.account.platform, err: error }, 'Cancelling only known orders');
    });
    const working = await store.working(client.account, null, MAX_CANCELS);
    await cancelRows(client, working, requestId, result);
    const lost = working.filter(isOpenFate);
    const found = await tracker.refresh(client, lost).catch((error: unknown) => {
      if (isReadFailure(error)) return lost;
      throw error;
    });
    await cancelRows(client, found, requestId, result);
    for (const row of found) if (isOpenFate(row)) result.open.push({ row, reason: 'its fate is not known yet' });
    if (working.length < MAX_CANCELS) return;
    const asked = new Set(working.map(({ id }) => id));
    const rest = (await store.working(client.account, null, 2 * MAX_CANCELS)).filter(({ id }) => !asked.has(id));
    for (const row of rest) result.open.push({ row, reason: 'too many at once: ask again' });
  }

  /** Orders whose credential is gone or cannot be opened: another one of the same account cancels them, and what none does is told. */
  async function cancelStray(
    through: readonly OrderClient[],
    rows: OrderRow[],
    requestId: string,
  ): Promise<CancelledAll> {
    const result: CancelledAll = { cancelled: [], open: [] };
    let left = rows;
    for (const client of through) {
      const tried: CancelledAll = { cancelled: [], open: [] };
      await cancelRows(client, left, requestId, tried).catch((error: unknown) => {
        if (!(error instanceof ApiError) && !isReadFailure(error)) throw error;
      });
      result.cancelled.push(...tried.cancelled);
      left = await store.again(left.map(({ id }) => id));
    }
    for (const row of left) {
      if (!isOver(row.status)) result.open.push({ row, reason: 'the credential it was placed with cannot be used' });
    }
    return result;
  }

  /** Cancels those that the platform has, batch by batch, and adds what became of them. */
  async function cancelRows(
    client: OrderClient,
    rows: readonly OrderRow[],
    requestId: string,
    { cancelled, open }: CancelledAll,
  ): Promise<void> {
    const placed = rows.filter((row) => !isOpenFate(row) && !isOver(row.status) && row.orderId !== null);
    for (let i = 0; i < placed.length; i += CANCEL_BATCH) {
      for (const done of await canceller.all(client, placed.slice(i, i + CANCEL_BATCH), requestId)) {
        const { row, outcome } = done;
        if (done.cancelled) cancelled.push(row);
        else if (outcome.result === 'unconfirmed') open.push({ row, reason: outcome.detail || 'not confirmed' });
      }
    }
  }

  return {
    place: (userId, body, requestId) => placer.place(userId, body, requestId),

    async get(name) {
      const { row, client } = await locate(name);
      return tracker.lookedUp(client, row);
    },

    async list({ userId, platform, credentialId, marketId, status }, after, limit) {
      const client = await clients.open(userId, platform, credentialId);
      const market = marketId === undefined ? null : await deps.market(platform, marketId);
      if (after === null) {
        await tracker.sync(client, market).catch((error: unknown) => {
          if (!(error instanceof PlatformError) || status !== 'unknown') throw error;
        });
      }
      const filter = { marketId: market?.platformId, status };
      const rows = await store.page(client.account, filter, after, limit + 1);
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const next = last ? { createdAt: last.createdAt.toISOString(), id: last.id } : null;
      return { rows: rows.slice(0, limit), total: after?.total ?? (await store.count(client.account, filter)), next };
    },

    cancel: async (name, requestId) => canceller.one(await locate(name), requestId),

    async cancelAll(userId, platform, credentialId, requestId) {
      const stored = (await credentials.list(userId)).filter((one) => one.platform === platform).map(({ id }) => id);
      const ids = credentialId === undefined && stored.length > 0 ? stored : [credentialId];
      const opened = await Promise.allSettled(ids.map((id) => clients.open(userId, platform, id)));
      const through = opened.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      for (const one of opened) {
        if (one.status === 'fulfilled') continue;
        if (through.length === 0) throw one.reason;
        log.warn({ platform, err: one.reason as unknown }, 'Cancelling without a credential that cannot be opened');
      }
      const operators = await clients.reopen({ userId, platform, credentialId: null }, 'live');
      if (credentialId === undefined && stored.length > 0 && operators) through.push(operators);
      const results = await Promise.all(through.map((client) => cancelThrough(client, requestId)));
      if (credentialId === undefined) {
        const used = through.map(({ account }) => account.credentialId ?? 0);
        const done = new Set(results.flatMap(({ cancelled }) => cancelled.map(({ orderId }) => orderId)));
        const stray = await store.stray(userId, platform, used, MAX_CANCELS);
        const left = stray.filter(({ orderId }) => !done.has(orderId));
        results.push(await cancelStray(through, left, requestId));
      }
      return { cancelled: results.flatMap((one) => one.cancelled), open: results.flatMap((one) => one.open) };
    },

    start: () => reconciler.start(),
    stop: () => reconciler.stop(),
  };
}
