import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LAUNCHER } from '../../helpers/process.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-arguments-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What a program prints and ends with; a store that it opens would be in DATA_DIR. */
function run(program: string, args: readonly string[], env: Record<string, string> = {}) {
  const own = { ...process.env, DATA_DIR: join(directory, 'data'), CLICKHOUSE_URL: '', DATABASE_URL: '', ...env };
  // Tools of development are not run as one module.
  const loader = /^src|demo\.ts$/.test(program) ? [LAUNCHER] : ['--import', 'tsx'];
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [...loader, program, ...args], { env: own }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

test.each([
  ['src/cli/migrate.ts', ['now']],
  ['src/cli/sql.ts', ['--format', 'CSV']],
  ['src/cli/user.ts', ['list', 'everybody']],
  ['src/cli/user.ts', ['create', 'ann@example.com', 'Ann', 'Bell']],
  ['src/cli/credentials.ts', ['rotate', 'all']],
  ['src/cli/default-clients.ts', ['off', 'now']],
  ['src/cli/match-verdict.ts', ['0123456789abcdef', 'confirm', 'unknown']],
  ['src/cli/match-verdict.ts', ['0123456789abcdef', 'forget', 'all']],
  ['src/cli/verify.ts', ['everything']],
  ['src/cli/export.ts', ['--to', 'folder', '--form', '2026-01-01']],
  ['src/cli/backup.ts', ['--to', 'folder']],
  ['src/cli/backup.ts', ['folder', 'another']],
  ['src/cli/restore.ts', ['--force']],
  ['src/cli/clickhouse.ts', ['start']],
  ['src/cli/postgres.ts', ['--port=1']],
  ['test/simulators/demo.ts', ['--quick']],
  ['test/examples/main.ts', ['markets']],
  ['test/explorer/screenshots.ts', ['markets']],
])('%s with %j does nothing but show its usage', async (program, args) => {
  const { code, stdout, stderr } = await run(program, args);
  expect([code, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(/^npm run /)]);
  expect(existsSync(join(directory, 'data'))).toBe(false);
});

test.each([
  ['src/cli/user.ts', ['everybody'], 'No command everybody'],
  [
    'src/cli/user.ts',
    ['limit', 'ann@example.com', 'many'],
    "npm run user -- limit EMAIL PER_MINUTE|none: sets a user's own limit of requests a minute, 1 to 1000000; none: that of the tier again; received ann@example.com many",
  ],
  ['src/cli/export.ts', ['--form', '2026-01-01'], "Unknown option '--form'"],
  [
    'src/cli/export.ts',
    ['--to', 'folder', '--from', '2026-02-30'],
    '--from: must be a day like 2026-11-20, received "2026-02-30"',
  ],
  ['src/cli/export.ts', ['--to'], "Option '--to <value>' argument missing"],
  ['src/cli/verify.ts', ['everything'], "Unexpected argument 'everything'"],
  ['src/cli/restore.ts', ['a', 'b'], 'Received a b'],
])('%s with %j says at the end what is wrong', async (program, args, wrong) => {
  expect((await run(program, args)).stderr.trimEnd().split('\n').at(-1)).toBe(wrong);
});

test('each command about users stands apart from what it does', async () => {
  const { stdout } = await run('src/cli/user.ts', ['--help']);
  const lines = stdout.split('\n').filter((line) => line.startsWith('npm run user'));
  const does = lines.map((line) => /^npm run user -- \S.*? {2,}(\S)/.exec(line)?.[0].length);
  expect([lines.length, new Set(does).size, does[0]]).toEqual([8, 1, expect.any(Number)]);
});

test('pictures of a service that is not there fail in one line', async () => {
  const { code, stderr } = await run('test/explorer/screenshots.ts', ['http://127.0.0.1:1']);
  expect([code, stderr.trimEnd().split('\n')]).toEqual([1, [expect.stringMatching(/^screenshots: /)]]);
});

test('a setting whose name is misspelt is named with the nearest one', async () => {
  const { stderr } = await run('src/cli/migrate.ts', ['now'], { RETENTION_TRADE_DAYS: '40' });
  expect(stderr.split('\n')[0]).toBe(
    'RETENTION_TRADE_DAYS is not a setting and is ignored; the nearest setting is RETENTION_TRADES_DAYS',
  );
});
