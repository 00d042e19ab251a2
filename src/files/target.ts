import type { FileEntry } from './manifest.ts';

/** Where day files are written to. Whatever is read there is whole: a file or manifest replaces another one in one step. */
export interface FileTarget {
  /** null before the first. */
  readManifest(): Promise<string | null>;
  writeManifest(text: string): Promise<void>;
  /** Stores the file at `local` as `entry.path`. */
  put(entry: FileEntry, local: string): Promise<void>;
}
