import { z } from 'zod';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { Completeness } from '../markets/completeness.ts';
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

/** From when on the trades of a platform are complete, over all its files. */
const PlatformEntry = Completeness.extend({ platform: z.enum(PLATFORMS) });
export type PlatformEntry = z.infer<typeof PlatformEntry>;

/** A manifest written before it named platforms has none. */
const Text = z.object({
  schema_version: z.literal(1),
  platforms: z.array(PlatformEntry).default([]),
  files: z.array(FileEntry),
});

/** What a tree of files holds: its platforms, and its files by path. */
export interface Manifest {
  platforms: Map<Platform, PlatformEntry>;
  files: Map<string, FileEntry>;
}

export const MANIFEST = 'manifest.json';

/** A manifest from its text; empty without one. Throws on invalid text. */
export function readManifest(text: string | null): Manifest {
  const { platforms, files } = text === null ? { platforms: [], files: [] } : Text.parse(JSON.parse(text));
  return {
    platforms: new Map(platforms.map((entry) => [entry.platform, entry])),
    files: new Map(files.map((entry) => [entry.path, entry])),
  };
}

export function manifestText({ platforms, files }: Manifest): string {
  const sorted = {
    platforms: [...platforms.values()].toSorted((a, b) => (a.platform < b.platform ? -1 : 1)),
    files: [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
  return `${JSON.stringify({ schema_version: 1, ...sorted }, null, 1)}\n`;
}

export const filePath = (dataset: Dataset, platform: Platform, date: string): string =>
  `dataset=${dataset}/platform=${platform}/date=${date}/part-0.parquet`;
