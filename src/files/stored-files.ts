import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from '../core/model.ts';
import { revisionPath } from './directory-target.ts';
import { type FileEntry, type Manifest, MANIFEST, type PlatformEntry, readManifest } from './manifest.ts';

/** The service's files of a platform: each platform has its own tree and manifest, because it has its own lease. */
export const filesRoot = (dataDir: string, platform: Platform): string => join(dataDir, 'files', platform);

/** Manifests as last read: a client that reads a file by ranges needs the manifest for each request. */
const MANIFESTS = new Map<string, { stamp: string; manifest: Manifest }>();

async function manifestAt(path: string): Promise<Manifest> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    const stamp = `${mtimeMs} ${size} ${ino}`;
    const kept = MANIFESTS.get(path);
    if (kept?.stamp === stamp) return kept.manifest;
    const manifest = readManifest(await readFile(path, 'utf8'));
    MANIFESTS.set(path, { stamp, manifest });
    return manifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return readManifest(null);
    throw error;
  }
}

/** How complete these platforms are, and their files by path; nothing of a platform without a manifest. */
export async function storedFiles(
  dataDir: string,
  platforms: readonly Platform[],
): Promise<{ platforms: PlatformEntry[]; files: FileEntry[] }> {
  const manifests = await Promise.all(platforms.map((one) => manifestAt(join(filesRoot(dataDir, one), MANIFEST))));
  const files = manifests.flatMap((one) => Array.from(one.files.values()));
  return {
    platforms: manifests.flatMap((one) => Array.from(one.platforms.values())),
    files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

/** An open file to send. It stays this revision while a newer one is stored under its name. */
interface OpenFile {
  handle: FileHandle;
  bytes: number;
  sha256: string;
}

/** Opens a file by its listed path, or the previous revision; the caller closes it; null if there is none. */
export async function findFile(
  dataDir: string,
  platforms: readonly Platform[],
  path: string,
  revision: number | undefined,
): Promise<OpenFile | null> {
  for (const platform of platforms) {
    const root = filesRoot(dataDir, platform);
    const entry = (await manifestAt(join(root, MANIFEST))).files.get(path);
    if (!entry) continue;
    const wanted = [entry, entry.previous].find((one) => one && one.revision === (revision ?? entry.revision));
    if (!wanted) return null;
    const current = join(root, entry.path);
    // The path itself may already hold a newer file that the manifest does not list yet.
    const handle = (await opened(revisionPath(current, wanted.revision))) ?? (await opened(current));
    if (!handle) return null;
    const { size: bytes } = await handle.stat();
    if (bytes === wanted.bytes) return { handle, bytes, sha256: wanted.sha256 };
    await handle.close();
    return null;
  }
  return null;
}

const opened = (path: string): Promise<FileHandle | null> =>
  open(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
