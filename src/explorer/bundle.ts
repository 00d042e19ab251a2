import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OutputFile } from 'esbuild';
import { z } from 'zod';

const ROOM = fileURLToPath(new URL('.', import.meta.url));
const LOCK = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
const BUILT = fileURLToPath(new URL('../../dist/explorer.json', import.meta.url));
export const DOCUMENT = 'index.html';
/** URL prefix of the files that the document loads. */
export const ASSETS = '/explorer/';

/** Contents of the document, scripts and style sheets, by file name. */
export type Files = ReadonlyMap<string, Buffer>;
/** The files as they are kept between starts, with a digest of the sources. */
const Written = z.object({
  sources: z.string(),
  files: z.record(z.string(), z.string()).refine((files) => DOCUMENT in files),
});

const nameOf = ({ path }: OutputFile): string => path.slice(path.lastIndexOf('/') + 1);

/** Bundles the explorer: file names contain a hash, and lazily loaded pages are chunks of their own. */
async function bundle(): Promise<Files> {
  const { build, stop } = await import('esbuild');
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

/** The files of the explorer: those in `file` if they are of the same sources, else bundled now and written there where possible. */
export async function builtFiles(file = BUILT): Promise<Files> {
  const sources = digestOfSources();
  const written = readWritten(file);
  if (written?.sources === sources) {
    return new Map(Object.entries(written.files).map(([name, text]) => [name, Buffer.from(text)]));
  }
  const files = await bundle();
  const texts = Object.fromEntries([...files].map(([name, content]) => [name, content.toString()]));
  // Another process may write at the same time: each writes a file of its own, then renames it.
  const own = `${file}-${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    try {
      writeFileSync(own, JSON.stringify({ sources, files: texts }));
      renameSync(own, file);
    } finally {
      rmSync(own, { force: true });
    }
  } catch {
    // A read-only image, or another user's clone: each start bundles.
  }
  return files;
}

/** What was written; null if there is nothing that can be read. */
function readWritten(file: string): { sources: string; files: Record<string, string> } | null {
  try {
    return Written.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

const sources = (): string[] =>
  readdirSync(ROOM, { recursive: true, encoding: 'utf8' })
    .map((name) => join(ROOM, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();

/** The lock names the versions of the packages in the bundle; an installation may lack it. */
function digestOfSources(): string {
  const digest = createHash('sha256').update(existsSync(LOCK) ? readFileSync(LOCK) : '');
  for (const path of sources()) digest.update(path.slice(ROOM.length)).update('\0').update(readFileSync(path));
  return digest.digest('hex');
}

/** A cheap fingerprint that changes when a source file is added, removed or edited. */
export function changeOfSources(): string {
  const times = sources().map((path) => statSync(path).mtimeMs);
  return `${times.length} ${Math.max(...times)}`;
}
