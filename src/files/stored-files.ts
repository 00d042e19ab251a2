import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from '../core/model.ts';
import { revisionPath } from './directory-target.ts';
import { type FileEntry, MANIFEST, readManifest } from './manifest.ts';

/** Where the service keeps the files of a platform: each has a tree and a manifest of its own, as each has its own lease. */
export const filesRoot = (dataDir: string, platform: Platform): string => join(dataDir, 'files', platform);

/** The files of these platforms by path; none of a platform before its first. */
export async function storedFiles(dataDir: string, platforms: readonly Platform[]): Promise<FileEntry[]> {
  const manifests = await Promise.all(
    platforms.map(async (platform) => {
      try {
        return [...readManifest(await readFile(join(filesRoot(dataDir, platform), MANIFEST), 'utf8')).values()];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    }),
  );
  return manifests.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** A file to send, open: a newer revision may take its name meanwhile. `sha256` is null of an older one, whose hash is not kept. */
export interface OpenFile {
  handle: FileHandle;
  bytes: number;
  sha256: string | null;
}

/** Opens a file by its listed path, or the revision before; the caller closes it; null when there is none, or while a newer one takes its place. */
export async function findFile(
  dataDir: string,
  platforms: readonly Platform[],
  path: string,
  revision: number | undefined,
): Promise<OpenFile | null> {
  const entry = (await storedFiles(dataDir, platforms)).find((one) => one.path === path);
  if (!entry) return null;
  const current = join(filesRoot(dataDir, entry.platform), entry.path);
  const isCurrent = revision === undefined || revision === entry.revision;
  const handle = await open(isCurrent ? current : revisionPath(current, revision)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
  if (!handle) return null;
  const { size: bytes } = await handle.stat();
  if (isCurrent && bytes !== entry.bytes) {
    await handle.close();
    return null;
  }
  return { handle, bytes, sha256: isCurrent ? entry.sha256 : null };
}
