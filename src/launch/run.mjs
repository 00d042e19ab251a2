// @ts-check
// node src/launch/run.mjs PROGRAM.ts [ARGUMENTS]: runs a program as one JavaScript module. Compiled file by file by a loader it takes
// 2 s and 70 MB more. Plain JavaScript, as Node 20 runs no TypeScript.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BUILT, bundleName, ROOT } from './program.mjs';

const [node = '', , program = '', ...rest] = process.argv;
const entry = resolve(program);
const name = bundleName(entry);
let file = join(BUILT, name);
if (!existsSync(file)) {
  file = join(writableFolder(), name);
  // In a process of its own: what compiling leaves in memory ends with it.
  const bundle = fileURLToPath(new URL('bundle.ts', import.meta.url));
  const { status } = spawnSync(node, ['--import', 'tsx', bundle, entry, file], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
process.argv = [node, entry, ...rest];
await import(pathToFileURL(file).href);

/** The folder of bundles, or a temporary one where that is not writable: a read-only image, another user's clone. */
function writableFolder() {
  try {
    mkdirSync(BUILT, { recursive: true });
    accessSync(BUILT, constants.W_OK);
    return BUILT;
  } catch {
    const folder = mkdtempSync(join(tmpdir(), 'forecastle-program-'));
    // Packages are found from the bundle's folder.
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }
}
