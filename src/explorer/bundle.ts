import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop, type OutputFile } from 'esbuild';

const ROOM = fileURLToPath(new URL('.', import.meta.url));
const BUILT = fileURLToPath(new URL('../../dist/explorer/', import.meta.url));
/** File beside the built ones: the digest of the sources they were built from. */
const SOURCES = 'sources';
export const DOCUMENT = 'index.html';
/** URL prefix of the files that the document loads. */
export const ASSETS = '/explorer/';

/** Contents of the document, scripts and style sheets, by file name. */
export type Files = ReadonlyMap<string, Buffer>;

const nameOf = ({ path }: OutputFile): string => path.slice(path.lastIndexOf('/') + 1);

/** Bundles the explorer: file names contain a hash, and lazily loaded pages are chunks of their own. */
export async function bundle(): Promise<Files> {
  const { outputFiles } = await build({
    absWorkingDir: ROOM,
    entryPoints: { main: 'parts/main.tsx', theme: 'parts/theme/first-theme.ts', style: 'parts/style.css' },
    outdir: 'out',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    logLevel: 'silent',
  });
  // Otherwise esbuild's process keeps waiting for another build.
  await stop();
  const files = new Map(outputFiles.map((file) => [nameOf(file), Buffer.from(file.contents)]));
  const entry = (name: string, end: string): string =>
    `${ASSETS}${[...files.keys()].find((file) => file.startsWith(`${name}-`) && file.endsWith(end)) ?? ''}`;
  const html = readFileSync(join(ROOM, DOCUMENT), 'utf8')
    .replace('{{style}}', entry('style', '.css'))
    .replace('{{theme}}', entry('theme', '.js'))
    .replace('{{main}}', entry('main', '.js'));
  return files.set(DOCUMENT, Buffer.from(html));
}

/** Writes the bundle for later starts of the service; returns the names of its files. */
export async function writeBundle(directory = BUILT): Promise<string[]> {
  const files = await bundle();
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of files) writeFileSync(join(directory, name), content);
  writeFileSync(join(directory, SOURCES), digestOfSources());
  return [...files.keys()];
}

/** What writeBundle wrote; null if it never ran, or if the sources have changed since. */
export function writtenBundle(directory = BUILT): Files | null {
  const stamp = join(directory, SOURCES);
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== digestOfSources()) return null;
  const names = readdirSync(directory).filter((name) => name !== SOURCES);
  return new Map(names.map((name) => [name, readFileSync(join(directory, name))]));
}

const sources = (): string[] =>
  readdirSync(ROOM, { recursive: true, encoding: 'utf8' })
    .map((name) => join(ROOM, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();

function digestOfSources(): string {
  const digest = createHash('sha256');
  for (const path of sources()) digest.update(path.slice(ROOM.length)).update('\0').update(readFileSync(path));
  return digest.digest('hex');
}

/** A cheap fingerprint that changes when a source file is added, removed or edited. */
export function changeOfSources(): string {
  const times = sources().map((path) => statSync(path).mtimeMs);
  return `${times.length} ${Math.max(...times)}`;
}
