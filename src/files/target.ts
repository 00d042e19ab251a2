import type { FileEntry } from './manifest.ts';

/** Where day files are written to. Whatever is read there is whole: a file or manifest replaces another one in one step. */
export interface FileTarget {
  /** Whether the revision before the newest stays readable. */
  keepsPrevious: boolean;
  /** null before the first. */
  readManifest(): Promise<string | null>;
  writeManifest(text: string): Promise<void>;
  /** Whether a listed file is still there with its length; absent where that is not asked. */
  has?(entry: FileEntry): Promise<boolean>;
  /** Stores the file at `local` as `entry.path`. */
  put(entry: FileEntry, local: string): Promise<void>;
}
