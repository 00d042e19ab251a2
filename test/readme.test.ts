import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filled, startWholeService, type WholeService } from './helpers/whole-service.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${ROOT}README.md`, 'utf8');
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };
/** What the README says of `--help` does not hold for these. */
const DEVELOPMENT = new Set(['test', 'types', 'lint']);

const commands = [...new Set([...readme.matchAll(/`?npm (?:run )?(?:-s )?([a-z]+)/g)].map(([, name = '']) => name))]
  .filter((name) => name !== 'ci' && name !== 'run')
  .toSorted();

it('names only commands that there are', () => {
  expect(commands.length).toBeGreaterThan(12);
  for (const command of commands) expect(Object.keys(scripts), command).toContain(command);
});

it.each(['demo', 'start', 'api', 'ingest', 'clickhouse'])(
  'npm run %s leaves no shell between npm, which is told to end, and the service',
  (command) => {
    expect(scripts[command]).toMatch(/^exec tsx /);
  },
);

it.each(commands.filter((name) => !DEVELOPMENT.has(name)))('npm run %s tells how it is used', async (command) => {
  const [, script = ''] = /\btsx (.*)/.exec(scripts[command] ?? '') ?? [];
  const { stdout } = await run(process.execPath, ['--import', 'tsx', ...script.split(' '), '--help'], { cwd: ROOT });
  expect(stdout).toContain(`npm ${command === 'start' ? 'start' : `run ${command}`}`);
});

let whole: WholeService;
beforeAll(async () => {
  whole = await startWholeService();
  await filled(whole);
});
afterAll(() => whole.close());

it('shows curls that work as they are printed', async () => {
  const listed = await whole.get('/v1/api/markets?provider=kalshi&status=open&limit=1');
  const { markets } = (await listed.json()) as { markets: { platform_id: string }[] };
  const { port } = new URL(whole.sqlUrl);
  const env = { ...process.env, URL: whole.service.url, KEY: whole.key, MARKET: markets[0]?.platform_id ?? '' };
  const curls = (readme.match(/^curl .*$/gm) ?? []).map((line) => line.replace(':8123/', `:${port}/`));
  expect(curls).toHaveLength(6);
  for (const curl of curls) {
    const { stdout } = await run('bash', ['-c', `${curl} -w '\\n%{http_code}'`], { env });
    expect([curl, stdout.trim().split('\n').at(-1), stdout]).toEqual([curl, '200', expect.any(String)]);
  }
});
