import { z } from 'zod';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { DATASETS, type Dataset } from './datasets.ts';

/** One day file. */
export const FileEntry = z.object({
  path: z.string(),
  dataset: z.enum(DATASETS),
  platform: z.enum(PLATFORMS),
  /** UTC day, `2026-11-20`. */
  date: z.string(),
  rows: z.int(),
  bytes: z.int(),
  sha256: z.string(),
  schema_version: z.int(),
  /** 1, and one higher with each change of the content. */
  revision: z.int(),
  /** Whether nothing more is expected: the day is over, its trades are all stored, and no gap is open. */
  complete: z.boolean(),
  /** Identifies the rows it was made from; while it is unchanged, the file is not written again. */
  content: z.string(),
  /** The previous revision, if it is kept. */
  previous: z.object({ revision: z.int(), sha256: z.string(), bytes: z.int() }).optional(),
});
export type FileEntry = z.infer<typeof FileEntry>;

const Manifest = z.object({ schema_version: z.literal(1), files: z.array(FileEntry) });

export const MANIFEST = 'manifest.json';

/** The files of a manifest by path; empty without a manifest. Throws on invalid text. */
export const readManifest = (text: string | null): Map<string, FileEntry> =>
  new Map((text === null ? [] : Manifest.parse(JSON.parse(text)).files).map((entry) => [entry.path, entry]));

export function manifestText(files: ReadonlyMap<string, FileEntry>): string {
  const sorted = [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return `${JSON.stringify({ schema_version: 1, files: sorted }, null, 1)}\n`;
}

export const filePath = (dataset: Dataset, platform: Platform, date: string): string =>
  `dataset=${dataset}/platform=${platform}/date=${date}/part-0.parquet`;
