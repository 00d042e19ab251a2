import type { FileEntry } from './manifest.ts';

/** Where day files are written. Readers see only complete files: each file or manifest is replaced in one step. */
export interface FileTarget {
  /** Whether the previous revision stays readable. */
  keepsPrevious: boolean;
  /** null before the first. */
  readManifest(): Promise<string | null>;
  writeManifest(text: string): Promise<void>;
  /** Whether a listed file still exists with its length; absent if that is not checked. */
  has?(entry: FileEntry): Promise<boolean>;
  /** Stores the file at `local` as `entry.path`. */
  put(entry: FileEntry, local: string): Promise<void>;
}
