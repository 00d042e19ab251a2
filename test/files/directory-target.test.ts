import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { directoryTarget, revisionPath } from '../../src/files/directory-target.ts';
import type { FileEntry } from '../../src/files/manifest.ts';

const root = mkdtempSync(join(tmpdir(), 'forecastle-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a kill between a file and the manifest leaves the revision before as it was', async () => {
  const target = directoryTarget(root, { keepPrevious: true });
  const local = join(root, 'local');
  const path = 'dataset=trades/platform=kalshi/date=2026-11-20/part-0.parquet';
  const put = async (revision: number, content: string): Promise<void> => {
    writeFileSync(local, content);
    await target.put({ path, revision } as FileEntry, local);
  };
  await put(1, 'first');
  await put(2, 'second, not in the manifest');
  await put(2, 'second');
  expect(readFileSync(join(root, path), 'utf8')).toBe('second');
  expect(readFileSync(revisionPath(join(root, path), 1), 'utf8')).toBe('first');
  await put(3, 'third');
  expect(readFileSync(revisionPath(join(root, path), 2), 'utf8')).toBe('second');
  expect(() => readFileSync(revisionPath(join(root, path), 1))).toThrow('ENOENT');
});
