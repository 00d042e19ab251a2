import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { startEmbeddedClickHouse } from '../../../src/embedded/clickhouse/supervisor.ts';
import { openSqlPort } from '../../../src/embedded/sql-port/open.ts';
import { newApiKey } from '../../../src/accounts/api-key-format.ts';
import { LAUNCHER, startProcess, type ServiceProcess } from '../../helpers/process.ts';
import { silent } from '../../helpers/silent-log.ts';

const run = promisify(execFile);
const SHELL = fileURLToPath(new URL('../../../src/cli/sql.ts', import.meta.url));
const QUIET = { level: ClickHouseLogLevel.OFF };
const key = newApiKey();
let directory: string;
let taken: Server;
let takenPort: number;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-sql-service-'));
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  takenPort = (taken.address() as AddressInfo).port;
});

afterAll(() => {
  taken.close();
  rmSync(directory, { recursive: true });
});

/** `npm run sql` on this directory. */
const shell = (statement: string) =>
  run(process.execPath, [LAUNCHER, SHELL, statement], {
    env: { PATH: process.env['PATH'], DATA_DIR: directory, LOG_LEVEL: 'silent' },
  });

/** With the unmodified client, as a user whose password is `password`. */
const read = async (port: string, password: string) => {
  const client = createClient({ url: `http://127.0.0.1:${port}`, username: 'me', password, log: QUIET });
  try {
    const result = await client.query({ query: 'SELECT count() AS n FROM v_trades', format: 'JSONEachRow' });
    return await result.json();
  } finally {
    await client.close();
  }
};

describe('a service on an embedded store', () => {
  let service: ServiceProcess;
  let port: string;

  beforeAll(async () => {
    service = startProcess('api', { DATA_DIR: directory, SQL_PORT: '0', DEMO_API_KEY: key });
    await service.ready;
    port = new URL(readFileSync(join(directory, 'sql_url'), 'utf8').trim()).port;
  });

  it('lets holders of API keys read over SQL_PORT, and refuses made-up keys', async () => {
    expect(await read(port, key)).toEqual([{ n: '0' }]);
    await expect(read(port, newApiKey())).rejects.toMatchObject({ code: '516' });
    await expect(read(port, '')).rejects.toMatchObject({ code: '516' });
  });

  it('answers the shell, which may not open the directory a second time', async () => {
    const { stdout } = await shell('SHOW TABLES');
    expect(stdout).toContain('v_trades\n');
    expect(stdout).not.toContain('schema_migrations');
    expect(statSync(join(directory, 'sql_url')).mode & 0o777).toBe(0o600);
  });

  it('says what is wrong with a statement, in one line', async () => {
    await expect(shell('DROP TABLE trades')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*readonly mode[^\n]*\(code 164\)\n$/) as string,
    });
  });

  it('takes the address away when it stops; the shell then opens the store itself', async () => {
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(existsSync(join(directory, 'sql_url'))).toBe(false);
    expect((await shell('SELECT count() FROM trades')).stdout).toBe('count()\n0\n');
  });
});

describe('a port that is taken', () => {
  it('stops the start with one line when SQL_PORT names it', async () => {
    const dataDir = join(directory, 'refused');
    const service = startProcess('api', { DATA_DIR: dataDir, SQL_PORT: String(takenPort) });
    await expect(service.ready).rejects.toThrow();
    expect(await service.ended).toBe(1);
    expect(service.output().trimEnd().split('\n').at(-1)).toBe(
      `forecastle: SQL_PORT: must be free, received ${takenPort}, which cannot be listened on at 127.0.0.1`,
    );
  });

  it('is distinguished from a SQL_HOST that is not of this machine, which always stops the start', async () => {
    const dataDir = join(directory, 'host');
    const engine = await startEmbeddedClickHouse({ dataDir, memoryMb: 512, log: silent, clock: systemClock });
    const config = loadConfig({ DATA_DIR: dataDir, SQL_HOST: '203.0.113.9' });
    await expect(openSqlPort(engine, config, silent, async () => null)).rejects.toThrow(
      'SQL_HOST: must be an address of this machine, received "203.0.113.9"',
    );
    await engine.close();
  });

  it('is only logged when it is the default that nobody asked for', async () => {
    const dataDir = join(directory, 'default');
    const engine = await startEmbeddedClickHouse({ dataDir, memoryMb: 512, log: silent, clock: systemClock });
    const config = { ...loadConfig({ DATA_DIR: dataDir }), SQL_PORT: takenPort };
    const warnings: unknown[] = [];
    const log = { ...silent, warn: (...line: unknown[]) => void warnings.push(line) };
    expect(await openSqlPort(engine, config, log, async () => null)).toBeNull();
    expect(warnings).toHaveLength(1);
    // Nothing is left half open: the same engine can open it elsewhere.
    const opened = await openSqlPort(engine, { ...config, SQL_PORT: 0 }, log, async () => null);
    expect(opened?.port).toBeGreaterThan(0);
    await opened?.close();
    await engine.close();
  });
});
