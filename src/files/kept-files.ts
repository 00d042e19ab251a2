import { dayOf } from '../core/time.ts';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { type FileSelection, type FilesDeps, revisionOf } from './day-files.ts';
import { type FileEntry, manifestText, readManifest } from './manifest.ts';
import { findFile, storedFiles } from './stored-files.ts';

/** Copies day files from a service's data directory that the target lacks, or has in another revision. null if there are none. */
export async function copyKeptFiles(
  { dataDir, target, temporary }: Pick<FilesDeps, 'target' | 'temporary'> & { dataDir: string },
  { platforms, datasets, fromMs, toMs }: FileSelection,
): Promise<{ made: number; rows: number; bytes: number } | null> {
  const kept = await storedFiles(dataDir, platforms);
  if (kept.files.length === 0) return null;
  const manifest = readManifest(await target.readManifest());
  const { files } = manifest;
  const [from, to] = [dayOf(fromMs), dayOf(toMs)];
  const own = kept.files.filter(({ dataset, date }) => datasets.includes(dataset) && from <= date && date <= to);
  const sum = { made: 0, rows: 0, bytes: 0 };
  let changed = files.size === 0;
  for (const entry of kept.platforms) {
    changed ||= !isDeepStrictEqual(manifest.platforms.get(entry.platform), entry);
    manifest.platforms.set(entry.platform, entry);
  }
  await mkdir(temporary, { recursive: true });
  const folder = await mkdtemp(join(temporary, 'files-'));
  try {
    for (const { previous: _, ...entry } of own) {
      const known = files.get(entry.path);
      const isThere = known?.sha256 === entry.sha256 && (!target.has || (await target.has(known)));
      const next: FileEntry = { ...entry, ...revisionOf(known, entry, target.keepsPrevious) };
      if (!isThere) {
        const local = join(folder, 'part');
        if (!(await copied(dataDir, entry, local))) continue;
        await target.put(next, local);
        sum.made += 1;
        sum.rows += entry.rows;
        sum.bytes += entry.bytes;
      }
      changed ||= !isDeepStrictEqual(known, next);
      files.set(entry.path, next);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
    if (changed) await target.writeManifest(manifestText(manifest));
  }
  return sum;
}

/** Copies a revision to `local`; false if two newer revisions have replaced it since it was listed. The next export takes these. */
async function copied(dataDir: string, { platform, path, revision }: FileEntry, local: string): Promise<boolean> {
  const found = await findFile(dataDir, [platform], path, revision);
  if (!found) return false;
  await pipeline(found.handle.createReadStream(), createWriteStream(local));
  return true;
}
