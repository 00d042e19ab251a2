import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LAUNCHER } from '../../helpers/process.ts';
import { filled, startWholeService, type WholeService } from '../../helpers/whole-service.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readme = text('README.md');
const documents = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', ...documents.map((name) => `docs/${name}`)];
const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
/** Scripts of development, which take no `--help`. */
const DEVELOPMENT = /^(test|check|types|lint|format|dev)/;
/** Commands of npm itself. */
const NPM = new Set(['ci', 'audit', 'run']);

const named = (page: string): string[] =>
  [...page.matchAll(/`?npm (?:run )?(?:-s )?([a-z-]+(?::[a-z]+)?)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !NPM.has(name));
const commands = Object.keys(scripts).filter((name) => !DEVELOPMENT.test(name));

it('documents every command, and only commands that exist', () => {
  const known = Object.keys(scripts).toSorted();
  expect([...new Set(pages.flatMap((path) => named(text(path))))].toSorted()).toEqual(known);
  expect(named(text('docs/commands.md'))).toEqual(expect.arrayContaining(commands));
});

it.each(pages)('%s links only to files that exist', (path) => {
  const targets = [...text(path).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target);
  for (const target of targets) expect(existsSync(join(ROOT, dirname(path), target)), target).toBe(true);
});

it.each(['demo', 'start', 'api', 'ingest', 'clickhouse', 'postgres'])(
  'npm run %s leaves no shell between npm, which receives the signal, and the service',
  (command) => {
    expect(scripts[command]).toMatch(/^(?:\w+=\w+ )?exec node .*src\/launch\/run\.mjs /);
  },
);

it.each(commands)('npm run %s prints its usage and touches no data', async (command) => {
  const [, script = ''] = /\b(?:tsx|run\.mjs) (.*)/.exec(scripts[command] ?? '') ?? [];
  // Several commands are one program: as one module it is compiled once.
  const loader = /^src\/(?:cli|main)|demo\.ts/.test(script) ? [LAUNCHER] : ['--import', 'tsx'];
  const env = { ...process.env, DATA_DIR: join(directory, 'untouched') };
  const { stdout } = await run(process.execPath, [...loader, ...script.split(' '), '--help'], { cwd: ROOT, env });
  expect(stdout).toContain(`npm ${command === 'start' ? 'start' : `run ${command}`}`);
  if (['clickhouse', 'migrate', 'sql'].includes(command)) expect(stdout).toContain(' CLICKHOUSE_MEMORY_MB ');
  expect(existsSync(env.DATA_DIR)).toBe(false);
});

let whole: WholeService;
/** Where files of the commands and of the examples go. */
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-readme-'));
  whole = await startWholeService();
  await filled(whole);
});
afterAll(async () => {
  await whole?.close();
  rmSync(directory, { recursive: true, force: true });
});

it('shows curls that work as they are printed', async () => {
  const listed = await whole.get('/v1/api/markets?provider=kalshi&status=open&limit=1');
  const { markets } = (await listed.json()) as { markets: { platform_id: string }[] };
  const { port } = new URL(whole.sqlUrl);
  const env = { ...process.env, URL: whole.service.url, KEY: whole.key, MARKET: markets[0]?.platform_id ?? '' };
  const all = (readme.match(/^curl .*$/gm) ?? []).map((line) => line.replace(':8123/', `:${port}/`));
  const curls = all.filter((line) => !line.startsWith('curl -N'));
  expect(curls).toHaveLength(7);
  for (const curl of all.filter((line) => line.startsWith('curl -N'))) {
    // A stream does not end by itself: curl ends it with 28.
    const { stdout } = await run('bash', ['-c', `${curl} -s --max-time 3 || [ $? = 28 ]`], { env });
    expect(stdout).toContain('event: state');
  }
  for (const curl of curls) {
    const { stdout } = await run('bash', ['-c', `${curl} -w '\\n%{http_code}'`], { env, cwd: directory });
    expect([curl, stdout.trim().split('\n').at(-1), stdout]).toEqual([curl, '200', expect.any(String)]);
  }
});
