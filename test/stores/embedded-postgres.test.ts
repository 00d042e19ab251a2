import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { loadConfig } from '../../src/core/config.ts';
import { createLog } from '../../src/core/log.ts';
import { lock } from '../../src/embedded/postgres/lock.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/embedded/postgres/supervisor.ts';
import { openPostgres } from '../../src/stores/postgres/client.ts';
import { LAUNCHER } from '../helpers/process.ts';
import { silent } from '../helpers/silent-log.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const undo: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

function tempDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'forecastle-pg-'));
  undo.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

let made = '';
beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'forecastle-pg-made-'));
  await (await startEmbeddedPostgres({ dataDir: made, log: silent, clock: systemClock })).close();
});
afterAll(() => rmSync(made, { recursive: true, force: true }));

/** A copy of a DATA_DIR with a cluster, which takes less time than to make one. */
function madeDataDir(): string {
  const directory = tempDir();
  execFileSync('cp', ['-a', join(made, 'postgresql'), directory]);
  return directory;
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock });
  undo.push(() => server.close());
  return server;
}

/** Each on a connection of its own. */
async function run<Row extends pg.QueryResultRow>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** `npm run postgres`, as npm runs it. */
async function serve(dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [LAUNCHER, 'src/cli/postgres.ts'], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, url: line.replace('DATABASE_URL=', '') };
}

const serverPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postgresql/postmaster.pid'), 'utf8').split('\n', 1)[0]);
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
const failure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no failure',
    (error: Error) => `${error.name}: ${error.message}`,
  );

test('only its owner reaches it: no TCP, a socket in DATA_DIR in a directory of mode 0700', async () => {
  const dataDir = tempDir();
  const { url, connection } = await start(dataDir);
  const [row] = await run<{ listen_addresses: string }>(url, 'SHOW listen_addresses');
  expect(row?.listen_addresses).toBe('');
  expect(connection.host).toBe(join(dataDir, 'postgresql'));
  expect(statSync(connection.host).mode & 0o777).toBe(0o700);
  expect(statSync(join(connection.host, '.s.PGSQL.5432')).mode & 0o777).toBe(0o700);
});

test('nothing of it runs as root, and the files are of the user that it runs as', async () => {
  const dataDir = tempDir();
  const server = await start(dataDir);
  const { uid } = statSync(`/proc/${server.pid()}`);
  expect(uid).not.toBe(0);
  for (const name of ['.', 'PG_VERSION', 'base'])
    expect(statSync(join(dataDir, 'postgresql', name)).uid, name).toBe(uid);
});

test('a path that is too long for a socket is served through a short directory of the same owner, removed at the end', async () => {
  const dataDir = join(tempDir(), 'x'.repeat(120));
  const server = await startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock });
  const { host } = server.connection;
  expect(host).toMatch(/^\/tmp\/forecastle-[0-9a-f]{24}$/);
  expect(statSync(host)).toMatchObject({ uid: statSync(join(dataDir, 'postgresql')).uid });
  expect(statSync(host).mode & 0o777).toBe(0o700);
  expect(await run(server.url, 'SELECT 7 AS n')).toEqual([{ n: 7 }]);
  await server.close();
  expect(existsSync(host)).toBe(false);
});

test('a second service on the same DATA_DIR is refused with one line that names the first and says how to share', async () => {
  const dataDir = madeDataDir();
  const { url } = await start(dataDir);
  expect(await failure(startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock }))).toBe(
    `ConfigError: DATA_DIR: its database is in use by process ${process.pid}; stop it, or share the store: npm run postgres, then DATABASE_URL`,
  );
  expect(await run(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('a command beside a running service uses its server, and leaves it running', async () => {
  const dataDir = madeDataDir();
  const { url } = await start(dataDir);
  const beside = await openPostgres({ DATABASE_URL: undefined, dataDir }, silent, { beside: true });
  expect(await beside.ping()).toBe(true);
  await beside.close();
  expect(await run(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('a command beside a service that is starting says so in one line', async () => {
  const dataDir = tempDir();
  const unlock = lock(join(dataDir, 'postgresql.lock'));
  mkdirSync(join(dataDir, 'postgresql'), { mode: 0o700 });
  expect(await failure(openPostgres({ DATABASE_URL: undefined, dataDir }, silent, { beside: true }))).toBe(
    `ConfigError: DATA_DIR: its database is in use by process ${process.pid}, and does not answer; try again in a few seconds`,
  );
  unlock();
});

test('several processes share what npm run postgres serves, and it comes back under the same address', async () => {
  const dataDir = madeDataDir();
  const first = await serve(dataDir);
  await run(first.url, 'CREATE TABLE kept (n int)', 'INSERT INTO kept VALUES (7)');
  const exit = once(first.child, 'exit');
  first.child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  const second = await serve(dataDir);
  expect(second.url).toBe(first.url);
  expect(await run(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
});

test('the server ends with its service, even a killed one, and the next service starts at once on what was stored', async () => {
  const dataDir = madeDataDir();
  const { child, url } = await serve(dataDir);
  await run(url, 'CREATE TABLE kept (n int)', 'INSERT INTO kept VALUES (7)');
  const pid = serverPid(dataDir);
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  const next = await start(dataDir);
  expect(isAlive(pid)).toBe(false);
  expect(await run(next.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
});

test('the server of a killed service ends by itself', async () => {
  const dataDir = madeDataDir();
  const { child } = await serve(dataDir);
  const pid = serverPid(dataDir);
  child.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('a server that is killed is started again with everything it had acknowledged', async () => {
  const server = await start(madeDataDir());
  await run(server.url, 'CREATE TABLE kept (n int PRIMARY KEY)');
  for (let n = 0; n < 3; n += 1) {
    await run(server.url, `INSERT INTO kept VALUES (${n})`);
    const pid = server.pid() ?? 0;
    process.kill(pid, 'SIGKILL');
    const rows = () => run(server.url, 'SELECT count(*)::int AS n FROM kept');
    await expect.poll(rows).toEqual([{ n: n + 1 }]);
    expect(server.pid()).not.toBe(pid);
  }
});

test('a postmaster.pid that a power cut left is no obstacle, whether its number is free or another program has it by now', async () => {
  const dataDir = madeDataDir();
  await (await start(dataDir)).close();
  const cluster = join(dataDir, 'postgresql');
  const { uid, gid } = statSync(cluster);
  const program = spawn('sleep', ['60'], { uid, gid });
  undo.push(() => void program.kill());
  for (const pid of [program.pid, 4_000_000]) {
    writeFileSync(join(cluster, 'postmaster.pid'), `${pid}\n${cluster}\n1\n5432\n.\n\n  1 1\nready\n`);
    chownSync(join(cluster, 'postmaster.pid'), uid, gid);
    const server = await startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock });
    expect(await run(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await server.close();
  }
});

test('a service of another container, whose process ids are others, is refused, and the first goes on', async () => {
  const dataDir = madeDataDir();
  const { url } = await start(dataDir);
  const pidFile = join(dataDir, 'postgresql/postmaster.pid');
  const first = readFileSync(pidFile, 'utf8');
  const clock = virtualClock();
  // As that container reads them: the number of no process, and of one that is no server.
  for (const [pid, start] of [
    [4_000_000, () => startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock })],
    [process.pid, () => clock.complete(startEmbeddedPostgres({ dataDir, log: silent, clock }), 20_000)],
  ] as const) {
    writeFileSync(join(dataDir, 'postgresql.lock'), `${pid} 1`);
    writeFileSync(pidFile, first.replace(/^\d+/, String(pid)));
    const refused = await failure(start());
    expect(refused).toMatch(/^ConfigError: DATA_DIR: its database is in use by /);
    expect(existsSync(pidFile)).toBe(true);
    writeFileSync(pidFile, first);
  }
  expect(await run(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('a lock is taken over from a process that died, also when its number lives on as another process', async () => {
  const dataDir = madeDataDir();
  const file = join(dataDir, 'postgresql.lock');
  const dead = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(dead, 'exit');
  for (const holder of [`${dead.pid} 123456`, `${process.ppid} 1`, 'unreadable']) {
    writeFileSync(file, holder);
    const server = await startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock });
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    await server.close();
  }
  expect(existsSync(file)).toBe(false);
});

test('a directory that is a link, that others may enter or that is another user’s is refused in one line', async () => {
  const dataDir = madeDataDir();
  await (await start(dataDir)).close();
  const cluster = join(dataDir, 'postgresql');
  const message = (): Promise<string> => failure(startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock }));
  chmodSync(cluster, 0o755);
  expect(await message()).toBe(`ConfigError: DATA_DIR: ${cluster} must be its owner's only; run: chmod 700 ${cluster}`);
  chmodSync(cluster, 0o700);
  renameSync(cluster, `${cluster}-elsewhere`);
  symlinkSync(`${cluster}-elsewhere`, cluster);
  expect(await message()).toBe(`ConfigError: DATA_DIR: ${cluster} must be a directory, received a symbolic link`);
});

/** Only root can give files away; CI runs as another user. */
const ROOT = process.getuid?.() === 0 ? ['root'] : [];

test.each(ROOT)(
  'as %s, files that root restored are given to the server’s user, and a link among them is not followed',
  async () => {
    const dataDir = madeDataDir();
    await (await start(dataDir)).close();
    const cluster = join(dataDir, 'postgresql');
    const outside = join(dataDir, 'outside');
    writeFileSync(outside, '');
    symlinkSync(outside, join(cluster, 'link'));
    for (const name of ['', ...readdirSync(cluster, { recursive: true, encoding: 'utf8' })])
      if (!lstatSync(join(cluster, name)).isSymbolicLink()) chownSync(join(cluster, name), 0, 0);
    const server = await start(dataDir);
    expect(await run(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(statSync(outside).uid).toBe(0);
  },
);

test('a commit is on the disk before it is acknowledged: each makes a sync of the log, through the service’s own connections', async () => {
  const dataDir = madeDataDir();
  const postgres = await openPostgres(loadConfig({ DATA_DIR: dataDir }, 'stores'), createLog({ LOG_LEVEL: 'silent' }));
  undo.push(() => postgres.close());
  const settings = ['fsync', 'full_page_writes', 'synchronous_commit', 'wal_sync_method'];
  const read = `SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name`;
  const rows = await postgres.transact((run) => run(read, [settings]));
  expect(rows.slice(0, 3)).toEqual(settings.slice(0, 3).map((name) => ({ name, setting: 'on' })));
  expect(rows[3]?.['setting']).toMatch(/^(fdatasync|open_datasync|fsync_writethrough)$/);
  const syncs = async (): Promise<number> => {
    // A connection reports what it did some time after.
    const [row] = await postgres.transact(async (run) => {
      await run('SELECT pg_stat_force_next_flush()');
      await run('SELECT pg_stat_clear_snapshot()');
      return run(`SELECT sum(fsyncs)::int AS n FROM pg_stat_io WHERE object = 'wal'`);
    });
    return Number(row?.['n']);
  };
  await postgres.transact((run) => run('CREATE TABLE kept (n int)'));
  await syncs();
  const before = await syncs();
  for (let n = 0; n < 20; n += 1) await postgres.transact((run) => run('INSERT INTO kept VALUES ($1)', [n]));
  await syncs();
  expect((await syncs()) - before).toBeGreaterThanOrEqual(20);
});
