import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newEmail, PASSWORD } from '../helpers/browser.ts';
import type { Description } from '../oracle/hostile.ts';
import { heldAfterCollection } from '../helpers/process-memory.ts';
import { startProcess } from '../helpers/process.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';
import { RawConnection, type RawReply } from './raw-connection.ts';
import type { KnownMarket } from './requests.ts';

const WORLD = { seed: 20, markets: 20, tradesPerMarket: 20, historyDays: 2 };
const ANSWER_MS = 30_000;

/** A new account: the key of a program and the cookie of a browser. */
export interface Account {
  key: string;
  cookie: string;
}

/** `npm start` in a process of its own, over simulated platforms without rate limits of their own. */
export interface Rig {
  readonly port: number;
  /** The service's OpenAPI. */
  readonly description: Description;
  /** Markets that the service lists. */
  readonly markets: readonly KnownMarket[];
  /** Registers at this address of the machine; its key may read and trade. */
  account(address: string): Promise<Account>;
  /** Bytes of the service's heap, and beside it, in use after collecting garbage. */
  heapBytes(): Promise<number>;
  /** Ends the service as an operator does; rejects when it does not end with 0. */
  close(): Promise<void>;
}

export async function startRig(): Promise<Rig> {
  const simulators = await Promise.all([startKalshi(WORLD), startPolymarket(WORLD), startLimitless(WORLD)]);
  for (const simulator of simulators) simulator.enforceLimits = false;
  const directory = mkdtempSync(join(tmpdir(), 'forecastle-fuzz-'));
  const settings = {
    DATA_DIR: directory,
    LOG_LEVEL: 'info',
    SWEEP_SECONDS: '2',
    TRADES_SECONDS: '2',
    BACKFILL_DAYS: '3',
    ...Object.assign({}, ...simulators.map(({ env }) => env)),
  };
  const service = startProcess('all', settings, { preload: ['../simulators/unmetered.ts', 'heap-on-signal.ts'] });
  const port = Number(new URL(await service.ready).port);

  const ask = async (address: string, method: string, url: string, headers: string, body = ''): Promise<RawReply> => {
    const connection = new RawConnection(port, address);
    const length = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    const head = `${method} ${url} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers}${body === '' ? '' : length}\r\n`;
    const reply = await connection.ask(head + body, ANSWER_MS);
    connection.close();
    if (reply.status >= 300 || reply.status === 0)
      throw new Error(`${method} ${url} answered ${reply.status} ${reply.body}`);
    return reply;
  };
  const account = async (address: string): Promise<Account> => {
    const member = JSON.stringify({ email: newEmail(), password: PASSWORD });
    const { headers } = await ask(address, 'POST', '/v1/api/auth/register', '', member);
    const cookies = (headers['set-cookie'] ?? '').split('\n');
    const cookie = cookies.map((line) => line.split(';', 1)[0]).join('; ');
    const wanted = JSON.stringify({ name: 'fuzz', scopes: ['read', 'trade'] });
    const made = await ask(address, 'POST', '/v1/api/auth/api-keys', `cookie: ${cookie}\r\n`, wanted);
    return { key: (JSON.parse(made.body) as { key: string }).key, cookie };
  };

  const { key } = await account('127.1.1.1');
  const get = async <T>(url: string): Promise<T> =>
    JSON.parse((await ask('127.1.1.1', 'GET', url, `x-api-key: ${key}\r\n`)).body) as T;
  const markets: KnownMarket[] = [];
  for (const platform of ['kalshi', 'polymarket', 'limitless']) {
    // Without a market that is listed nothing of it can be asked.
    for (let listed = 0; listed === 0; await sleep(500)) {
      const page = await get<{ markets: { platform_id: string }[] }>(`/v1/api/markets?provider=${platform}&limit=5`);
      markets.push(...page.markets.map((market) => ({ platform, id: market.platform_id })));
      listed = page.markets.length;
    }
  }
  const description = await get<Description>('/v1/api/openapi.json');
  return {
    port,
    description,
    markets,
    account,
    heapBytes: async () => (await heldAfterCollection(service)).bytes,
    async close() {
      service.kill('SIGTERM');
      const ended = await service.ended;
      await Promise.all(simulators.map((simulator) => simulator.close()));
      rmSync(directory, { recursive: true, force: true });
      if (ended !== 0) throw new Error(`the service ended with ${ended}:\n${service.output().slice(-2000)}`);
    },
  };
}
