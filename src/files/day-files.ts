import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { PLATFORMS, type Platform } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { keptFrom } from '../stores/clickhouse/retention.ts';
import { DATASETS, type Dataset, SCHEMA_VERSION, SOURCES } from './datasets.ts';
import { type FileEntry, filePath, manifestText, readManifest } from './manifest.ts';
import { parquetRows } from './parquet-rows.ts';
import type { FileTarget } from './target.ts';
import { DAY_MS } from '../core/time.ts';

/** A row of sql/queries/file_days.sql. */
const DayRow = z.object({
  kind: z.enum(['trades', 'quotes', 'books']),
  platform: z.enum(PLATFORMS),
  day: z.string(),
  content: z.string(),
});
type DayRow = z.infer<typeof DayRow>;

/** A row of sql/queries/file_coverage.sql. */
const Coverage = z.object({
  platform: z.enum(PLATFORMS),
  from_us: z.coerce.number(),
  to_us: z.coerce.number(),
  gaps: z.array(z.tuple([z.coerce.number(), z.coerce.number()])),
});
type Coverage = z.infer<typeof Coverage>;

/** Which files are made: UTC days `from` to `to`, both inclusive. */
export interface FileSelection {
  platforms: readonly Platform[];
  datasets: readonly Dataset[];
  fromMs: number;
  toMs: number;
}

export interface FilesDeps {
  clickhouse: ClickHouse;
  target: FileTarget;
  /** Where files are made before they are moved to the target. */
  temporary: string;
  now: () => number;
  signal?: AbortSignal;
}

/**
 * Brings the target's files to what the store holds: days that changed get a new revision, days that did not are left alone.
 * The manifest is written after each file, so that a crash leaves whole files, and the next run makes what is missing.
 */
export async function writeDayFiles(
  deps: FilesDeps,
  selection: FileSelection,
): Promise<{ made: number; rows: number; bytes: number }> {
  const { clickhouse, target } = deps;
  const manifest = readManifest(await target.readManifest());
  const days = await clickhouse.query('file_days', DayRow, {
    platforms: selection.platforms,
    from: secondText(Math.floor(selection.fromMs / DAY_MS) * DAY_MS),
    to: secondText((Math.floor(selection.toMs / DAY_MS) + 1) * DAY_MS),
  });
  const coverage = await clickhouse.query('file_coverage', Coverage);
  const sum = { made: 0, rows: 0, bytes: 0 };
  let changed = false;
  await mkdir(deps.temporary, { recursive: true });
  const folder = await mkdtemp(join(deps.temporary, 'files-'));
  try {
    for (const dataset of DATASETS.filter((one) => selection.datasets.includes(one))) {
      const source = SOURCES[dataset];
      // Of an older day some rows may be gone: what was written of it when it was whole stays.
      const whole = source.forgets === null ? new Date(0) : await keptFrom(clickhouse, source.forgets);
      const own = days.filter(({ kind, day }) => kind === source.days && Date.parse(day) >= whole.getTime());
      for (const day of own.toSorted(byDay)) {
        deps.signal?.throwIfAborted();
        const path = filePath(dataset, day.platform, day.day);
        const known = manifest.get(path);
        const complete = isComplete(day, coverage, deps.now());
        if (known?.content === day.content && known.schema_version === SCHEMA_VERSION) {
          if (known.complete !== complete) manifest.set(path, { ...known, complete });
          changed ||= known.complete !== complete;
          continue;
        }
        const local = join(folder, 'part');
        const made = await makeFile(clickhouse, source.query, day, local, deps.signal);
        const revision = known === undefined ? 1 : known.sha256 === made.sha256 ? known.revision : known.revision + 1;
        const entry: FileEntry = {
          path,
          dataset,
          platform: day.platform,
          date: day.day,
          ...made,
          schema_version: SCHEMA_VERSION,
          revision,
          complete,
          content: day.content,
        };
        if (known?.sha256 !== made.sha256) await target.put(entry, local);
        manifest.set(path, entry);
        await target.writeManifest(manifestText(manifest));
        sum.made += 1;
        sum.rows += made.rows;
        sum.bytes += made.bytes;
      }
    }
    if (changed || manifest.size === 0) await target.writeManifest(manifestText(manifest));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return sum;
}

const byDay = (a: DayRow, b: DayRow): number => (`${a.day} ${a.platform}` < `${b.day} ${b.platform}` ? -1 : 1);
const secondText = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** The day is over, the feed is stored beyond it from before its beginning, and no gap of the feed touches it. */
function isComplete({ platform, day }: DayRow, coverage: readonly Coverage[], nowMs: number): boolean {
  const startUs = Date.parse(day) * 1000;
  const endUs = startUs + DAY_MS * 1000;
  const feed = coverage.find((one) => one.platform === platform);
  if (!feed || nowMs * 1000 < endUs) return false;
  return (
    feed.from_us <= startUs && feed.to_us >= endUs && !feed.gaps.some(([from, to]) => from < endUs && to > startUs)
  );
}

/** Rows as the engine wrote them into a Parquet file, streamed to disk and hashed on the way. */
async function makeFile(
  clickhouse: ClickHouse,
  query: string,
  { platform, day }: DayRow,
  local: string,
  signal: AbortSignal | undefined,
): Promise<{ rows: number; bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const source = await clickhouse.stream(query, { platform, day }, 'Parquet', signal ? { signal } : {});
  await pipeline(source, count, createWriteStream(local));
  return { rows: await parquetRows(local), bytes, sha256: hash.digest('hex') };
}
