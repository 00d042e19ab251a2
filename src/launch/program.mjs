// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Where bundled programs are kept, and the explorer's pages beside them. */
export const BUILT = join(ROOT, 'dist/programs');

/** What programs are made of. The image has no tests; an installation may lack the lock of its packages. */
const SOURCES = ['src', 'ingest', 'test/simulators'];
const PACKAGES = ['package.json', 'package-lock.json'];

/**
 * The name of the bundle of a program: another one after any change of the sources. The content counts, as an image keeps no exact
 * times of its files.
 * @param {string} entry path of the program's first file
 * @returns {string} a file name
 */
export function bundleName(entry) {
  const digest = createHash('sha256').update(ROOT);
  for (const file of PACKAGES.map((name) => join(ROOT, name)).filter((path) => existsSync(path))) {
    digest.update(readFileSync(file));
  }
  for (const folder of SOURCES.map((name) => join(ROOT, name)).filter((path) => existsSync(path))) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
      if (/\.(ts|mjs)$/.test(name))
        digest
          .update(name)
          .update('\0')
          .update(readFileSync(join(folder, name)));
    }
  }
  return `${programName(entry)}-${digest.digest('hex').slice(0, 16)}.mjs`;
}

/**
 * @param {string} entry path of the program's first file
 * @returns {string} `main` of `src/main.ts`
 */
export const programName = (entry) => basename(entry, '.ts');
