import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { connect, openClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../../../src/embedded/clickhouse/supervisor.ts';
import { LAUNCHER } from '../../helpers/process.ts';
import { silent } from '../../helpers/silent-log.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';

const undo: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

function tempDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'forecastle-process-'));
  undo.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A command of the shell, as npm runs it. */
function run(script: string, dataDir: string, args: string[] = [], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, [LAUNCHER, `src/${script}`, ...args], {
    env: { ...process.env, NODE_ENV: 'development', CLICKHOUSE_MEMORY_MB: '512', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  undo.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  return child;
}

async function finish(child: ChildProcess): Promise<{ out: string; err: string; code: number | null }> {
  const streams = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''));
  const [out = '', err = ''] = await Promise.all(streams);
  if (child.exitCode === null) await once(child, 'exit');
  return { out, err, code: child.exitCode };
}

/** Starts `npm run clickhouse` and waits for the address it prints. */
async function serve(dataDir: string, env: Record<string, string> = {}) {
  const child = run('cli/clickhouse.ts', dataDir, [], env);
  if (!child.stdout) throw new Error('no output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, url: line.replace('CLICKHOUSE_URL=', '') };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The process of the engine that serves a directory; throws before it was started. */
function engineOf(dataDir: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--path=${dataDir}`));
  if (found === undefined) throw new Error('no engine yet');
  return Number(found);
}

const answers = (url: string): Promise<boolean> =>
  fetch(new URL('/ping', new URL(url).origin)).then(
    ({ ok }) => ok,
    () => false,
  );

it('an engine that is killed is started again at the same address with everything it had acknowledged', async () => {
  const embedded = await startEmbeddedClickHouse({
    dataDir: tempDir(),
    memoryMb: 512,
    log: silent,
    clock: systemClock,
  });
  const store = connect(embedded.url, () => embedded.close());
  undo.push(() => store.close());
  await store.command(
    'CREATE TABLE kept (a UInt32) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
  );
  const killed = embedded.pid();
  await store.insert('kept', [{ a: 1 }], { token: 'one' });
  process.kill(killed ?? 0, 'SIGKILL');
  // Reads and tokened inserts wait for it to come back; the same insert once more changes nothing.
  await store.insert('kept', [{ a: 1 }], { token: 'one' });
  await store.insert('kept', [{ a: 2 }], { token: 'two' });
  expect(await store.sql('SELECT a FROM kept ORDER BY a')).toEqual([{ a: 1 }, { a: 2 }]);
  expect(embedded.pid()).not.toBe(killed);
});

it('an engine that hangs is replaced, with everything it had acknowledged, and what was asked while it hung is answered', async () => {
  const clock = virtualClock();
  const embedded = await startEmbeddedClickHouse({ dataDir: tempDir(), memoryMb: 512, log: silent, clock });
  const store = connect(embedded.url, () => embedded.close());
  undo.push(() => store.close());
  await store.command(
    'CREATE TABLE kept (a UInt32) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
  );
  await store.insert('kept', [{ a: 1 }], { token: 'one' });
  const hung = embedded.pid() ?? 0;
  process.kill(hung, 'SIGSTOP');
  // On a busy machine a start takes longer than an insert is repeated.
  const written = vi.waitFor(() => store.insert('kept', [{ a: 2 }], { token: 'two' }), { timeout: 60_000 });
  await clock.advance(20_000);
  expect(isRunning(hung)).toBe(true);
  await clock.advance(10_000);
  const isReplaced = async (): Promise<boolean> => {
    await clock.advance(50);
    return embedded.pid() !== hung;
  };
  await expect.poll(isReplaced).toBe(true);
  expect(isRunning(hung)).toBe(false);
  await written;
  expect(await store.sql('SELECT a FROM kept ORDER BY a')).toEqual([{ a: 1 }, { a: 2 }]);
});

it('an engine goes on while clients reset their connections at any moment', async () => {
  const embedded = await startEmbeddedClickHouse({
    dataDir: tempDir(),
    memoryMb: 512,
    log: silent,
    clock: systemClock,
  });
  undo.push(() => embedded.close());
  const pid = embedded.pid();
  const { port, username, password } = new URL(embedded.url);
  const login = Buffer.from(`${username}:${password}`).toString('base64');
  const asked = `POST /?readonly=2 HTTP/1.1\r\nhost: x\r\nauthorization: Basic ${login}\r\ncontent-length: 34\r\n\r\nSELECT number FROM numbers(100000)`;
  const reset = (text: string, afterMs: number): Promise<void> =>
    new Promise((done) => {
      const socket = connectSocket(Number(port), '127.0.0.1', () => {
        if (text !== '') socket.write(text);
        setTimeout(() => socket.resetAndDestroy(), afterMs);
      });
      socket.on('error', () => {}).once('close', () => done());
    });
  for (const length of [0, 3, 80, asked.length - 10, asked.length])
    for (let turn = 0; turn < 30; turn += 1)
      await Promise.all(Array.from({ length: 12 }, (_, i) => reset(asked.slice(0, length), i % 4)));
  expect(await answers(embedded.url)).toBe(true);
  expect(embedded.pid()).toBe(pid);
});

it('an engine that is suspended for a moment is left alone', async () => {
  const clock = virtualClock();
  const embedded = await startEmbeddedClickHouse({ dataDir: tempDir(), memoryMb: 512, log: silent, clock });
  undo.push(() => embedded.close());
  const pid = embedded.pid() ?? 0;
  process.kill(pid, 'SIGSTOP');
  await clock.advance(8000);
  process.kill(pid, 'SIGCONT');
  for (let second = 0; second < 30; second += 1) {
    await clock.advance(1000);
    expect(await answers(embedded.url)).toBe(true);
  }
  expect(embedded.pid()).toBe(pid);
});

it('several processes share the store that npm run clickhouse serves, and it comes back under the same address', async () => {
  const dataDir = tempDir();
  const first = await serve(dataDir);
  expect(statSync(join(dataDir, 'clickhouse_password')).mode & 0o777).toBe(0o600);
  const [a, b] = [connect(first.url), connect(first.url)];
  await a.command('CREATE TABLE shared (a UInt32) ENGINE = MergeTree ORDER BY a');
  await a.insert('shared', [{ a: 1 }]);
  expect(await b.sql('SELECT a FROM shared')).toEqual([{ a: 1 }]);
  await Promise.all([a.close(), b.close()]);

  const sql = await finish(
    run('cli/sql.ts', dataDir, ['SELECT a, a + 1 AS b FROM shared'], { CLICKHOUSE_URL: first.url }),
  );
  expect([sql.out, sql.code]).toEqual(['a\tb\n1\t2\n', 0]);

  const exit = once(first.child, 'exit');
  first.child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  const again = await serve(dataDir, { CLICKHOUSE_PORT: new URL(first.url).port });
  expect(again.url).toBe(first.url);
});

it('the engine ends with its parent, even a killed one, and the directory can be opened again', async () => {
  const dataDir = tempDir();
  const { child, url } = await serve(dataDir);
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  const next = await openClickHouse({ CLICKHOUSE_URL: undefined, CLICKHOUSE_MEMORY_MB: 512, dataDir }, silent);
  undo.push(() => next.close());
  expect(await next.ping()).toBe(true);
  await expect.poll(() => answers(url)).toBe(false);
});

it('an engine whose parent is killed before it listens ends too', async () => {
  const dataDir = tempDir();
  const child = run('cli/clickhouse.ts', dataDir);
  const engine = await vi.waitFor(() => engineOf(dataDir), { timeout: 30_000, interval: 5 });
  child.kill('SIGKILL');
  await expect.poll(() => isRunning(engine)).toBe(false);
});

it('a second process on the same directory is refused with one line that says what to do', async () => {
  const dataDir = tempDir();
  const { url } = await serve(dataDir);
  const second = await finish(run('cli/sql.ts', dataDir, ['SELECT 1']));
  expect(second.code).toBe(1);
  expect(second.err.trim().split('\n')).toEqual([
    expect.stringMatching(/^DATA_DIR: .* is in use by another process; .*CLICKHOUSE_URL$/),
  ]);
  expect(await answers(url)).toBe(true);
});

it('a taken port is refused with one line that names the setting', async () => {
  const { url } = await serve(tempDir());
  const { port } = new URL(url);
  const second = await finish(run('cli/clickhouse.ts', tempDir(), [], { CLICKHOUSE_PORT: port }));
  expect([second.code, second.err]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^CLICKHOUSE_PORT: must be free, received ${port}.*\n$`)),
  ]);
});

it('npm run sql reads, refuses to write, and says why in one line', async () => {
  const dataDir = tempDir();
  const sql = (query: string) => finish(run('cli/sql.ts', dataDir, query ? [query] : []));
  await (await openClickHouse({ CLICKHOUSE_URL: undefined, CLICKHOUSE_MEMORY_MB: 512, dataDir }, silent)).close();
  expect(await sql('SELECT 1 AS a FORMAT JSONEachRow')).toEqual({ out: '{"a":1}\n', err: '', code: 0 });
  for (const [query, words] of [
    ['SELECT nothing', /^Unknown expression identifier .* \(code 47\)\n$/],
    ['CREATE TABLE t (a Int32) ENGINE = Memory', /readonly mode.* \(code 164\)\n$/],
    ['', /^npm run sql/],
  ] as const) {
    const { out, err, code } = await sql(query);
    expect([out, err, code], query).toEqual(['', expect.stringMatching(words), 1]);
  }
});

it('npm run sql and verify refuse a directory without a store, and make none there', async () => {
  const dataDir = join(tempDir(), 'misspelt');
  for (const [script, args] of [
    ['cli/sql.ts', ['SELECT 1']],
    ['cli/verify.ts', []],
  ] as const) {
    const { err, code } = await finish(run(script, dataDir, [...args]));
    expect([code, err]).toEqual([
      1,
      `DATA_DIR: must hold the stores of a service, received ${dataDir} without clickhouse\n`,
    ]);
  }
  expect(existsSync(dataDir)).toBe(false);
});

it('npm run clickhouse ends when only npm gets the signal, as from a supervisor', async () => {
  const npm = spawn('npm', ['run', '-s', 'clickhouse'], {
    env: { ...process.env, NODE_ENV: 'development', CLICKHOUSE_MEMORY_MB: '512', DATA_DIR: tempDir() },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  undo.push(() => {
    try {
      process.kill(-(npm.pid ?? 0), 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  });
  const [line] = (await once(createInterface(npm.stdout), 'line')) as [string];
  npm.kill('SIGTERM');
  await expect.poll(() => answers(line.replace('CLICKHOUSE_URL=', ''))).toBe(false);
});
