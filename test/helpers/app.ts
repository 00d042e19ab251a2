import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { systemClock } from '../../src/core/time.ts';
import { buildApp } from '../../src/app.ts';
import { type AppDeps } from '../../src/routes/services.ts';
import { createAnalystSql } from '../../src/stores/clickhouse/analyst-sql.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { loadConfig, type Config } from '../../src/core/config.ts';
import { hashKey, keyPrefix, newApiKey } from '../../src/accounts/api-key-format.ts';
import { createLog } from '../../src/core/log.ts';
import { Projector } from '../../src/present/projector.ts';
import { migratePostgres, openPostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import { type Shared } from '../../src/stores/shared/shared.ts';
import { apiKeys, users, type Tier } from '../../src/accounts/tables.ts';
import { SCOPES } from '../../src/core/model.ts';
import { migratedDatabase, TEST_SERVER } from './databases.ts';

/** A service under test on a database of its own: of the run's PostgreSQL, or on DATABASE_URL and REDIS_URL when these are set. */
export interface TestApp {
  app: FastifyInstance;
  config: Config;
  deps: AppDeps;
  postgres: Postgres;
  shared: Shared;
  /** A key of a new user, or one more of `ownerId`, made without HTTP; it reads and trades. */
  newKey(tier?: Tier, ownerId?: string): Promise<{ userId: string; key: string; keyId: string }>;
  /** An address nobody used before: counts by address start afresh. */
  newAddress(): string;
  /** Everything logged so far, as text. */
  logged(): string;
  close(): Promise<void>;
}

export interface TestAppOptions extends Partial<Omit<AppDeps, 'config' | 'log'>> {
  /** Settings beside DATA_DIR, which is a fresh directory. */
  env?: Record<string, string>;
  /** A database to use as it is, instead of a fresh one. */
  databaseUrl?: string;
  /** Before every key in Redis; the same in processes that share. */
  prefix?: string;
  /** Whether every answer is held against its declared schema; a bench leaves that out. Default true. */
  checked?: boolean;
}

/** What no log line may hold: API keys, signed cookies, password hashes, private keys, the password of test people. */
const SECRET = /pk_[\w-]{49}|eyJ[\w-]+\.[\w-]+\.|\$argon2|PRIVATE KEY|plum tree/;

/** Builds an app on fresh stores; whatever is passed in is used, and left open, instead of what would be made. */
export async function startTestApp({
  env = {},
  databaseUrl,
  prefix = `test-${randomUUID()}:`,
  checked = true,
  clock = systemClock,
  ...given
}: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'forecastle-app-'));
  const { REDIS_URL = '' } = process.env;
  const database = TEST_SERVER && !databaseUrl && !given.postgres ? await migratedDatabase() : null;
  const url = databaseUrl ?? database?.url ?? TEST_SERVER;
  const config = loadConfig({
    DATA_DIR: dataDir,
    NODE_ENV: 'test',
    LOG_LEVEL: 'trace',
    DATABASE_URL: url,
    REDIS_URL,
    ...env,
  });
  const sink = collect();
  const log = createLog(config, sink.stream);
  const postgres = given.postgres ?? (await openPostgres(config, log));
  await migratePostgres(postgres, log);
  const shared = given.shared ?? (await openShared(config, log, { prefix, clock }));
  const deps: AppDeps = {
    config,
    log,
    clock,
    clickhouse: unusedClickHouse,
    platforms: {},
    present: new Projector({ clickhouse: given.clickhouse ?? unusedClickHouse, postgres, log, clock: systemClock }),
    fetchMarket: async () => null,
    onBadRow: () => {},
    ingestionHealth: async () => [],
    analystSql: createAnalystSql(config),
    ...given,
    rates: { prefix, ...given.rates },
    postgres,
    shared,
  };
  const app = await buildApp(deps);
  if (checked) app.addHook('onSend', holdToSchema);
  await app.ready();
  let addresses = 0;
  return {
    app,
    config,
    deps,
    postgres,
    shared,
    newKey: (tier, ownerId) => insertKey(postgres, tier, ownerId),
    newAddress: () => `10.${(addresses += 1) >> 8}.${addresses & 255}.1`,
    logged: sink.text,
    async close() {
      await app.close();
      if (!given.shared) await shared.close();
      if (!given.postgres) await postgres.close();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
      const leak = SECRET.exec(sink.text());
      if (leak)
        throw new Error(`a secret was logged: …${sink.text().slice(Math.max(0, leak.index - 200), leak.index)}`);
    },
  };
}

/** Fails a request whose success does not look as its route declares, down to a field too many. */
async function holdToSchema(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const { answer } = request.routeOptions.config;
  const json = String(reply.getHeader('content-type')).startsWith('application/json');
  const text = Buffer.isBuffer(payload) && !reply.hasHeader('content-encoding') ? payload.toString() : payload;
  if (!answer || !json || typeof text !== 'string' || reply.statusCode > 299) return payload;
  const body: unknown = JSON.parse(text);
  const result = answer.safeParse(body);
  if (!result.success) throw new Error(`answer of ${request.url} is not as declared: ${result.error.message}`);
  if (!isDeepStrictEqual(result.data, body)) throw new Error(`answer of ${request.url} has undeclared fields`);
  return payload;
}

/** A user (unless there is one) and a key, straight into the tables. */
export async function insertKey(postgres: Postgres, tier: Tier = 'free', ownerId: string = randomUUID()) {
  const email = `${ownerId}@example.com`;
  await postgres.db.insert(users).values({ id: ownerId, email, tier }).onConflictDoNothing();
  const key = newApiKey();
  const row = { userId: ownerId, name: 'test', prefix: keyPrefix(key), hash: hashKey(key), scopes: [...SCOPES] };
  const [made] = await postgres.db.insert(apiKeys).values(row).returning();
  if (!made) throw new Error('no key row');
  return { userId: ownerId, key, keyId: made.id };
}

function collect(): { stream: Writable; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}

const unused = (): never => {
  throw new Error('this test passed no ClickHouse');
};
const unusedClickHouse: ClickHouse = {
  query: unused,
  rowBinary: unused,
  stream: unused,
  sql: unused,
  run: unused,
  command: unused,
  insert: unused,
  ping: async () => true,
  close: async () => {},
};
