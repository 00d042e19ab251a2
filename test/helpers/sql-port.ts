import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { ApiError } from '../../src/core/errors.ts';
import { systemClock } from '../../src/core/time.ts';
import { connect, type ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { refreshWindows } from '../../src/stores/clickhouse/windows.ts';
import { serveSql, type KeyOwner, type SqlPort } from '../../src/embedded/sql-port/server.ts';
import { silent } from './silent-log.ts';

export const ACCOUNT = { user: 'analyst', password: 'correct horse battery' };
/** For tests that lock it. */
export const SPARE = { user: 'spare', password: 'another horse battery' };

/** Keys whose look-up fails, and is refused. */
export const LOST_KEY = 'pk_lost';
export const EXPIRED_KEY = 'pk_expired';

/** An embedded store with a few markets and trades, and its read-only port. */
export class SqlPortUnderTest {
  readonly directory: string;
  readonly engine: EmbeddedClickHouse;
  readonly store: ClickHouse;
  readonly origin: string;
  /** API keys that exist; the service would look them up. */
  readonly keys: Set<string>;
  readonly #port: SqlPort;

  private constructor(
    directory: string,
    engine: EmbeddedClickHouse,
    store: ClickHouse,
    port: SqlPort,
    keys: Set<string>,
  ) {
    this.directory = directory;
    this.engine = engine;
    this.store = store;
    this.origin = `http://127.0.0.1:${port.port}`;
    this.keys = keys;
    this.#port = port;
  }

  /** `fillStore` stores what it has; default: some rows of everything. */
  static async start(memoryMb = 1000, fillStore = fill): Promise<SqlPortUnderTest> {
    const directory = mkdtempSync(join(tmpdir(), 'forecastle-sql-port-'));
    const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb, log: silent, clock: systemClock });
    const store = connect(engine.url);
    await migrateClickHouse(store, silent);
    await fillStore(store);
    const keys = new Set<string>();
    const ownerOfKey: KeyOwner = async (key) => {
      if (key === LOST_KEY) throw new Error('PostgreSQL is away');
      if (key === EXPIRED_KEY) throw new ApiError(401, 'The API key has expired', { resolution: '' });
      return keys.has(key) ? key : null;
    };
    const options = { host: '127.0.0.1', port: 0, accounts: [ACCOUNT, SPARE], ownerOfKey, log: silent };
    const port = await serveSql(engine, options);
    return new SqlPortUnderTest(directory, engine, store, port, keys);
  }

  /** The unmodified official client. */
  client(options: Parameters<typeof createClient>[0] = {}): ClickHouseClient {
    return createClient({
      url: this.origin,
      username: ACCOUNT.user,
      password: ACCOUNT.password,
      log: { level: ClickHouseLogLevel.OFF },
      ...options,
    });
  }

  /** Plain HTTP as the account. */
  async ask(sql: string, search: Record<string, string> = {}, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.origin}/?${String(new URLSearchParams(search))}`, {
      method: 'POST',
      body: sql,
      ...init,
      headers: { authorization: basic(ACCOUNT.user, ACCOUNT.password), ...init.headers },
    });
  }

  async close(): Promise<void> {
    await this.#port.close();
    await this.store.close();
    await this.engine.close();
    rmSync(this.directory, { recursive: true });
  }
}

export const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

export const WALLET = `0x${'ab'.repeat(20)}`;

const TRADE_COLUMNS =
  'platform, ref, executed_at, trade_order, id_form, id_text, outcome, outcome_index, series, side, price, size, trader_text, is_block';

/** `count` trades of five markets, one a second up to `until`, one of ten by a wallet; each with the fields of `own`. */
export async function insertTrades(
  store: ClickHouse,
  count: number,
  prefix = 't',
  until = Date.now(),
  own: Record<string, unknown> = {},
): Promise<void> {
  const trades = Array.from({ length: count }, (_, i) => ({
    platform: 'kalshi',
    ref: `M${i % 5}`,
    executed_at: new Date(until - i * 1000).toISOString(),
    trade_order: String(i),
    id_form: 'text',
    id_text: `${prefix}${i}`,
    outcome: 'yes',
    outcome_index: 0,
    series: 0,
    side: i % 2 ? 'buy' : 'sell',
    price: `0.${40 + (i % 20)}`,
    size: String(1 + (i % 300)),
    trader_text: i % 10 === 0 ? WALLET : '',
    is_block: false,
    ...own,
  }));
  await store.insert(`trades (${TRADE_COLUMNS})`, trades);
}

async function fillBooks(store: ClickHouse, at: string): Promise<void> {
  const seen = { platform: 'kalshi', ref: 'M0', outcome: 'yes', sequence: 1, received_at: at };
  await store.insert('book_changes (platform, ref, outcome, sequence, side, price, size, received_at)', [
    { ...seen, side: 'bid', price: '0.4', size: '10' },
  ]);
  await store.insert('book_snapshots (platform, ref, outcome, sequence, bid_prices, bid_sizes, received_at)', [
    { ...seen, bid_prices: ['0.4'], bid_sizes: ['10'] },
  ]);
  await store.insert('book_gaps (platform, ref, from_at, to_at, reason)', [
    { platform: 'kalshi', ref: 'M0', from_at: at, to_at: at, reason: 'not recorded' },
  ]);
  await store.insert('book_depth (platform, ref, minute, version)', [
    { platform: 'kalshi', ref: 'M0', minute: at, version: at },
  ]);
}

async function fill(store: ClickHouse): Promise<void> {
  const at = new Date().toISOString();
  const refs = ['M0', 'M1', 'M2', 'M3', 'M4'];
  await insertTrades(store, 999);
  // One of much money, for v_whales.
  await insertTrades(store, 1, 'large', Date.now(), { ref: 'M0', size: '1000' });
  await fillBooks(store, at);
  await store.insert(
    'markets (platform, ref, platform_id, title, outcome_names, event_id, category, first_seen_at, version)',
    refs.map((ref) => ({
      platform: 'kalshi',
      ref,
      platform_id: ref,
      title: `Will ${ref} happen?`,
      outcome_names: ['Yes', 'No'],
      event_id: 'EVENT',
      category: 'Politics',
      first_seen_at: at,
      version: at,
    })),
  );
  await store.insert(
    'market_state (platform, ref, status, event_id, prices, bids, asks, volume_24h, liquidity, first_seen_at, synced_at)',
    refs.map((ref) => ({
      platform: 'kalshi',
      ref,
      status: 'open',
      event_id: 'EVENT',
      prices: ['0.57', '0.43'],
      bids: ['0.56', null],
      asks: ['0.58', null],
      volume_24h: '1234.5',
      liquidity: '10',
      first_seen_at: at,
      synced_at: at,
    })),
  );
  await store.command(
    `INSERT INTO matches (a_platform, a_key, a_texts, b_platform, b_key, b_texts, relation, kind, found_at, checked_at)
     SELECT 'kalshi', min(market_key), argMin(texts, market_key), 'kalshi', max(market_key), argMax(texts, market_key), 'identical', 'act', now(), now()
     FROM market_questions`,
  );
  await store.insert('events (platform, event_id, series_id, version)', [
    { platform: 'kalshi', event_id: 'EVENT', series_id: 'SERIES', version: at },
  ]);
  await store.insert('series (platform, series_id, version)', [
    { platform: 'kalshi', series_id: 'SERIES', version: at },
  ]);
  await store.insert(
    'market_snapshots (platform, ref, at, status, price, bid, ask, liquidity)',
    refs.map((ref) => ({
      platform: 'kalshi',
      ref,
      at,
      status: 'open',
      price: '0.57',
      bid: '0.56',
      ask: '0.58',
      liquidity: '10',
    })),
  );
  const run = {
    started_at: at,
    finished_at: at,
    ok: true,
    fresh_to: at,
    rows: 1000,
    bad_rows: 0,
    note: '',
    worker: 'w',
  };
  await store.insert('ingestion_runs', [{ platform: 'kalshi', job: 'trades', ...run }]);
  await refreshWindows(store);
}
