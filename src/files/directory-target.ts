import { copyFile, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MANIFEST } from './manifest.ts';
import type { FileTarget } from './target.ts';

/** A directory. A file appears whole under its name; with `keepPrevious` the revision before stays beside it. */
export function directoryTarget(root: string, { keepPrevious = false } = {}): FileTarget {
  return {
    readManifest: () => textOf(join(root, MANIFEST)),
    async writeManifest(text) {
      await mkdir(root, { recursive: true });
      const temporary = join(root, `.${MANIFEST}.tmp`);
      await writeDurably(temporary, text);
      await rename(temporary, join(root, MANIFEST));
    },
    async put(entry, local) {
      const path = join(root, entry.path);
      await mkdir(dirname(path), { recursive: true });
      const temporary = join(dirname(path), '.part.tmp');
      // The local file may lie on another file system.
      await copyFile(local, temporary);
      const handle = await open(temporary, 'r+');
      await handle.sync().finally(() => handle.close());
      if (keepPrevious && entry.revision > 1) {
        // It is there already where a kill came between this and the manifest; the file under the path is a newer one then.
        const previous = revisionPath(path, entry.revision - 1);
        if ((await exists(path)) && !(await exists(previous))) await rename(path, previous);
        await rm(revisionPath(path, entry.revision - 2), { force: true });
      }
      await rename(temporary, path);
    },
  };
}

/** Where an older revision of a file lies: under a name that no reader of Parquet files looks for. */
export const revisionPath = (path: string, revision: number): string => `${path}.r${revision}`;

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
