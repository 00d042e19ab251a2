import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LAUNCHER } from '../../helpers/process.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
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
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-readme-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

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
