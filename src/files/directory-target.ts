import { copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRunning } from '../core/data-dir.ts';
import { MANIFEST } from './manifest.ts';
import type { FileTarget } from './target.ts';

/** Temporary files contain the process id, so that two writers never share one. */
const TEMPORARY = /^\..*\.(\d+)\.tmp$/;

/** A directory. Files appear complete under their name; with `keepPrevious` the newest two revisions have names of their own, too. */
export function directoryTarget(root: string, { keepPrevious = false } = {}): FileTarget {
  return {
    keepsPrevious: keepPrevious,
    readManifest: () => textOf(join(root, MANIFEST)),
    async writeManifest(text) {
      await mkdir(root, { recursive: true });
      await replace(join(root, MANIFEST), async (temporary) => {
        const handle = await open(temporary, 'w');
        await handle
          .writeFile(text)
          .then(() => handle.sync())
          .finally(() => handle.close());
      });
    },
    async has(entry) {
      const found = await stat(join(root, entry.path)).catch(() => null);
      return found?.size === entry.bytes;
    },
    async put(entry, local) {
      const path = join(root, entry.path);
      const { revision } = entry;
      await mkdir(dirname(path), { recursive: true });
      if (keepPrevious && revision > 1) {
        // Earlier releases did not give the listed revision a name of its own.
        await link(path, revisionPath(path, revision - 1)).catch(ignore('EEXIST', 'ENOENT'));
        await rm(revisionPath(path, revision - 2), { force: true });
      }
      // The local file may lie on another file system.
      const made = keepPrevious ? revisionPath(path, revision) : path;
      await replace(made, async (temporary) => {
        await copyFile(local, temporary);
        await synced(temporary, 'r+');
      });
      if (keepPrevious) {
        await replace(path, async (temporary) => {
          await rm(temporary, { force: true });
          await link(made, temporary);
        });
      }
    },
  };
}

/** Path of a revision, under a name that readers of Parquet files do not match. */
export const revisionPath = (path: string, revision: number): string => `${path}.r${revision}`;

/** Writes a file under another name and renames it, durably; removes leftovers of killed writers. */
async function replace(path: string, make: (temporary: string) => Promise<void>): Promise<void> {
  const folder = dirname(path);
  for (const name of await readdir(folder)) {
    const [, pid] = TEMPORARY.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { force: true });
  }
  const temporary = join(folder, `.${path.slice(folder.length + 1)}.${process.pid}.tmp`);
  await make(temporary);
  await rename(temporary, path);
  await synced(folder, 'r');
}

async function synced(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  await handle.sync().finally(() => handle.close());
}

const ignore =
  (...codes: string[]) =>
  (error: unknown): void => {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  };

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
