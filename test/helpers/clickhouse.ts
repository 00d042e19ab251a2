import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { type Clock, systemClock } from '../../src/core/time.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { silent } from './silent-log.ts';

export interface Asked {
  params?: Record<string, unknown>;
  settings?: object;
}

/** An embedded ClickHouse with the unmodified official client and plain HTTP, as any user of a server has them. */
export class StoreUnderTest {
  readonly store: EmbeddedClickHouse;
  readonly client: ClickHouseClient;
  readonly #directory: string;

  private constructor(store: EmbeddedClickHouse, directory: string) {
    this.store = store;
    this.client = this.open();
    this.#directory = directory;
  }

  static async start(memoryMb: number, clock: Clock = systemClock): Promise<StoreUnderTest> {
    const directory = mkdtempSync(join(tmpdir(), 'forecastle-clickhouse-'));
    return new StoreUnderTest(
      await startEmbeddedClickHouse({ dataDir: directory, memoryMb, log: silent, clock }),
      directory,
    );
  }

  open(options: Parameters<typeof createClient>[0] = {}): ClickHouseClient {
    return createClient({ url: this.store.url, log: { level: ClickHouseLogLevel.OFF }, ...options });
  }

  async rows<Row>(query: string, { params = {}, settings = {} }: Asked = {}): Promise<Row[]> {
    const result = await this.client.query({
      query,
      format: 'JSONEachRow',
      query_params: params,
      clickhouse_settings: { ...settings },
    });
    return result.json<Row>();
  }

  post(search: Record<string, string>, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> {
    const { username, password, origin } = new URL(this.store.url);
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return fetch(`${origin}/?${String(new URLSearchParams(search))}`, {
      method: 'POST',
      body,
      headers: { authorization, ...headers },
    });
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.store.close();
    rmSync(this.#directory, { recursive: true });
  }
}
