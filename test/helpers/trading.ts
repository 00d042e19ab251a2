import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/core/config.ts';
import type { CredentialOf } from '../../src/platforms/manifests.ts';
import { grantDefaultClients } from '../../src/accounts/default-clients.ts';
import { type Clock, systemClock } from '../../src/core/time.ts';
import { createCredentials } from '../../src/accounts/credentials.ts';
import type { FetchMarket } from '../../src/markets/directory.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { createPlatformOrders, createPlatforms } from '../../src/platforms/registry.ts';
import type { Platform } from '../../src/core/model.ts';
import { unmeteredHttp } from '../fixtures/unmetered-http.ts';
import { openOwnClickHouse } from './own-clickhouse.ts';
import { openPresent } from './present.ts';
import { startTestApp, type TestApp } from './app.ts';
import { watched } from './at-work.ts';
import { socketCounts } from './socket-counts.ts';

/** An answer of the service. */
export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: {
    order: AnsweredOrder;
    orders: AnsweredOrder[];
    cancelled: unknown;
    not_cancelled: { order_id: string; reason: string }[];
    unlisted: { credential_id: number; reason: string }[];
    /** Of a batch. */
    results: { status: number; order?: AnsweredOrder }[];
    balances: { asset: string; total: number | null; available: number | null; reserved: number | null }[];
    pagination: { total: number; limit: number; has_more: boolean; next_cursor: string | null };
    meta: { platform: string; idempotent_replay: boolean; dry_run?: true };
    error: { status: number; message: string; resolution: string; error_text: string };
  };
}

export interface AnsweredOrder {
  order_id: string;
  platform: Platform;
  market_id: string;
  side: string;
  outcome: string;
  type: string;
  price: number | null;
  size: number;
  filled_size: number | null;
  remaining_size: number | null;
  average_fill_price: number | null;
  status: string;
  time_in_force: string;
  client_order_id: string;
  fees: { maker_fee: number | null; taker_fee: number | null; total_fee: number | null };
  created_at: string;
  updated_at: string;
  resolves_at: string | null;
  received_size: number | null;
  received_usd: number | null;
  unknown_reason: string | null;
  expiration: string | null;
  metadata?: Record<string, unknown>;
}

/** A user of the service with a key. */
export interface Customer {
  userId: string;
  key: string;
  get(path: string): Promise<Answer>;
  post(path: string, body: object): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Stores a credential; returns its id. */
  credential<P extends Platform>(platform: P, fields: CredentialOf<P>, isDefault?: boolean): Promise<number>;
}

/** The service with real stores and adapters against simulated platforms, without ingestion: markets are read when asked for. */
export interface Trading {
  service: TestApp;
  customer(options?: { mayUseDefaultClients: boolean }): Promise<Customer>;
  /** Lists markets of a platform: they are stored together, in the time that one takes. */
  lists(platform: Platform, ids: readonly string[]): Promise<void>;
  /** One more service on the same stores, as another process would be; it knows the same customers. */
  another(): Promise<{ service: TestApp; as(customer: Customer): Customer }>;
  close(): Promise<void>;
}

const onBadRow = (row: object): void => {
  throw new Error(`a bad row: ${JSON.stringify(row)}`);
};

export async function startTrading(given: Record<string, string>, clock: Clock = systemClock): Promise<Trading> {
  const env = { ...given, CREDENTIALS_KEY: `test:${randomBytes(32).toString('base64')}` };
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-trading-'));
  const settings = { DATA_DIR: directory, NODE_ENV: 'test', LOG_LEVEL: 'error', ...env };
  const config = loadConfig(settings);
  const clickhouse = watched((await openOwnClickHouse()).clickhouse);
  const http = await unmeteredHttp(clock);
  const deps = { http, settings: config, now: clock.now };
  const adapters = createPlatforms(deps);
  const { postgres, present, close } = await openPresent(clickhouse, given['DATABASE_URL'], clock);
  const writer = new MarketWriter(clickhouse, clock, { present });
  const fetchMarket: FetchMarket = async (platform, id) => {
    const market = await adapters[platform].market(id, { priority: 'live', onBadRow });
    if (!market) return null;
    await writer.write(platform, [market], { isUrgent: true });
    return market.info.ref;
  };
  const parts = {
    env: { ...env, LOG_LEVEL: 'debug' },
    clickhouse,
    postgres,
    present,
    platforms: adapters,
    orderAdapters: createPlatformOrders(deps),
    fetchMarket,
    onBadRow,
    clock,
    rates: { windowSeconds: 1 },
    sockets: socketCounts(),
  };
  const service = await startTestApp(parts);
  const credentials = createCredentials(service.postgres.db, service.config.credentialKeys);

  const through = ({ app }: TestApp, userId: string, key: string): Customer => {
    const call = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer> => {
      const headers = { 'x-api-key': key };
      const reply = await app.inject({ method, url: `/v1/api${path}`, headers, ...(body ? { body } : {}) });
      return { status: reply.statusCode, headers: reply.headers, body: reply.json() };
    };
    return {
      userId,
      key,
      get: (path) => call('GET', path),
      post: (path, body) => call('POST', path, body),
      delete: (path) => call('DELETE', path),
      async credential(platform, fields, isDefault = false) {
        return (await credentials.store(userId, platform, 'test', fields, isDefault)).id;
      },
    };
  };

  return {
    service,
    async customer({ mayUseDefaultClients } = { mayUseDefaultClients: false }) {
      const { userId, key } = await service.newKey();
      if (mayUseDefaultClients) await grantDefaultClients(service.postgres.db, userId);
      return through(service, userId, key);
    },
    async lists(platform, ids) {
      const read = await Promise.all(ids.map((id) => adapters[platform].market(id, { priority: 'live', onBadRow })));
      const records = read.flatMap((market) => market ?? []);
      await writer.write(platform, records, { isUrgent: true });
      await present.settled();
    },
    async another() {
      const other = await startTestApp(parts);
      return { service: other, as: ({ userId, key }) => through(other, userId, key) };
    },
    async close() {
      await service.close();
      await close();
      await http.close();
      await clickhouse.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
