import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const PROGRAM = `import { fileURLToPath } from 'node:url';
import { settingsHelp } from './core/settings.ts';
process.stdout.write(JSON.stringify([fileURLToPath(import.meta.url), process.argv.slice(1), settingsHelp().length > 0]));
process.exitCode = 3;
`;

/** A clone with a program of its own. */
let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'forecastle-launch-'));
  for (const name of ['src', 'package.json', 'tsconfig.json']) cpSync(name, join(clone, name), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(clone, 'node_modules'));
  writeFileSync(join(clone, 'src/sample.ts'), PROGRAM);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

const launch = () => {
  const argv = ['src/launch/run.mjs', 'src/sample.ts', 'one', '--two'];
  const env = { ...process.env, TMPDIR: clone };
  return spawnSync(process.execPath, argv, { cwd: clone, encoding: 'utf8', env });
};
const bundles = (): string[] => readdirSync(join(clone, 'dist/programs')).filter((name) => name.endsWith('.mjs'));

it('runs a program with its own address, arguments and exit code', () => {
  const { stdout, stderr, status } = launch();
  const entry = join(clone, 'src/sample.ts');
  expect({ stderr, status }).toEqual({ stderr: '', status: 3 });
  expect(JSON.parse(stdout)).toEqual([entry, [entry, 'one', '--two'], true]);
});

it('bundles once, and again after a change of any source', () => {
  launch();
  const first = bundles();
  expect(first).toHaveLength(1);
  launch();
  expect(bundles()).toEqual(first);
  appendFileSync(join(clone, 'src/core/settings.ts'), 'process.stdout.write("changed ");\n');
  expect(launch().stdout).toMatch(/^changed \[/);
  expect(bundles()).toHaveLength(1);
  expect(bundles()).not.toEqual(first);
});

it('runs from a temporary folder where it may not write, and removes that', () => {
  mkdirSync(join(clone, 'dist'));
  writeFileSync(join(clone, 'dist/programs'), 'not a folder');
  const { stdout, stderr, status } = launch();
  expect({ stderr, status }).toEqual({ stderr: '', status: 3 });
  expect(JSON.parse(stdout)[0]).toBe(join(clone, 'src/sample.ts'));
  expect(readdirSync(clone).filter((name) => name.startsWith('forecastle-program-'))).toEqual([]);
});

it('ends with what the compiler says when a source does not compile', () => {
  appendFileSync(join(clone, 'src/sample.ts'), 'const = 1;\n');
  const { stdout, stderr, status } = launch();
  expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
  expect(stderr).toContain('src/sample.ts:5');
});
