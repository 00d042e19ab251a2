import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataDir } from '../../src/core/data-dir.ts';

/** The name of a batch that is inserted under this token, alone or with batches of other platforms. */
export const spoolName = (batch: string, token: string): string => `${batch}~${token}`;

/** The deduplication token of the insert that a batch is part of. */
export const tokenOf = (name: string): string => name.slice(name.indexOf('~') + 1);

/**
 * Batches being inserted, one file each. The file name has the insert's deduplication token, so a batch found after a crash is
 * sent again under the same token. If the directory is lost, its trades are read again: no watermark has moved past them.
 */
export class Spool {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(directory: string): Promise<Spool> {
    makeDataDir(directory);
    return new Spool(directory);
  }

  /** Durable against a killed process once it returns. */
  async put(name: string, body: Buffer): Promise<void> {
    const file = join(this.#directory, `${name}.jsonl`);
    await writeFile(`${file}.tmp`, body);
    await rename(`${file}.tmp`, file);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#directory, `${name}.jsonl`), { force: true });
  }

  /** Names of unacknowledged batches of one feed, oldest first. Half-written files were never inserted and are dropped. */
  async pending(prefix: string): Promise<string[]> {
    const names = (await readdir(this.#directory)).filter((name) => name.startsWith(prefix));
    for (const name of names.filter((n) => n.endsWith('.tmp'))) await rm(join(this.#directory, name), { force: true });
    return names
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => name.slice(0, -'.jsonl'.length))
      .toSorted();
  }

  read(name: string): Promise<Buffer> {
    return readFile(join(this.#directory, `${name}.jsonl`));
  }
}
