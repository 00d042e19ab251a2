import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { z } from 'zod';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { feedCompleteness } from '../markets/completeness.ts';
import { storedHistory } from '../markets/trade-history.ts';
import { type ClickHouse, LONG_MS, type QueryParams, StoreError } from '../stores/clickhouse/client.ts';
import { keptSince } from '../stores/clickhouse/retention.ts';
import { DATASETS, type Dataset, type DatasetSource, SCHEMA_VERSION, SOURCES } from './datasets.ts';
import { type FileEntry, filePath, type Manifest, manifestText, type PlatformEntry, readManifest } from './manifest.ts';
import type { FileTarget } from './target.ts';
import { type Clock, DAY_MS, systemClock, dayOf } from '../core/time.ts';

/** How often the manifest is written while files are made. */
const MANIFEST_MS = 1000;

/** A row of sql/queries/file_candle_days.sql: a day of a platform. */
const Day = z.object({ platform: z.enum(PLATFORMS), day: z.string(), content: z.string() });
type Day = z.infer<typeof Day>;

/** A row of sql/queries/file_days.sql. */
const DayOfKind = Day.extend({ kind: z.enum(['trades', 'quotes', 'books']) });

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
  /** Start for quotes, books and bars instead of `fromMs`: they are many, and old ones do not change. */
  readingsFromMs?: number;
}

export interface FilesDeps {
  clickhouse: ClickHouse;
  target: FileTarget;
  /** Where files are written before they are moved to the target. */
  temporary: string;
  clock: Pick<Clock, 'now'>;
  signal?: AbortSignal;
}

/** A run so far. */
interface Run {
  deps: FilesDeps;
  manifest: Manifest;
  coverage: readonly Coverage[];
  /** Where a file is written before it is moved to the target. */
  folder: string;
  sum: { made: number; rows: number; bytes: number };
  failed: { path: string; error: StoreError }[];
  /** Whether the manifest has to be written, and when it last was, by the machine's elapsed time. */
  changed: boolean;
  writtenAt: number;
}

/**
 * Updates the target from the store: changed days get a new revision, unchanged days are left alone. The manifest is written
 * every second and at the end, so after a crash all files are complete and the next run adds the missing ones. A file that fails
 * does not stop the others; its error is thrown at the end.
 */
export async function writeDayFiles(deps: FilesDeps, selection: FileSelection): Promise<Run['sum']> {
  const { clickhouse, target } = deps;
  const manifest = readManifest(await target.readManifest());
  const { platforms, fromMs, readingsFromMs = fromMs } = selection;
  const readings = { platforms, from: dayText(readingsFromMs), to: dayText(selection.toMs + DAY_MS) };
  const params = { ...readings, from: dayText(fromMs), readings_from: readings.from };
  // Read before the rows: trades that are stored from now on, and then covered, may be missing in the files of this run.
  const coverage = await clickhouse.query('file_coverage', Coverage);
  const reached = await Promise.all(platforms.map((platform) => reachOf(clickhouse, platform)));
  const daysOfKinds = await clickhouse.query('file_days', DayOfKind, params, { timeoutMs: LONG_MS });
  let changed = manifest.files.size === 0;
  for (const entry of reached) {
    changed ||= !isDeepStrictEqual(manifest.platforms.get(entry.platform), entry);
    manifest.platforms.set(entry.platform, entry);
  }
  await mkdir(deps.temporary, { recursive: true });
  const folder = await mkdtemp(join(deps.temporary, 'files-'));
  const sum = { made: 0, rows: 0, bytes: 0 };
  const run: Run = { deps, manifest, coverage, folder, sum, failed: [], changed, writtenAt: -Infinity };
  try {
    for (const dataset of DATASETS.filter((one) => selection.datasets.includes(one))) {
      for (const day of await daysOf(deps, SOURCES[dataset], daysOfKinds, readings)) {
        deps.signal?.throwIfAborted();
        await updateDay(run, dataset, day);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
    // After a lost lease another process writes it.
    if (run.changed && !deps.signal?.aborted) await writeManifest(run);
  }
  const [first] = run.failed;
  if (first)
    throw new Error(`${run.failed.length} files could not be written, first ${first.path}`, { cause: first.error });
  return sum;
}

async function writeManifest(run: Run): Promise<void> {
  await run.deps.target.writeManifest(manifestText(run.manifest));
  run.writtenAt = systemClock.elapsed();
  run.changed = false;
}

/** The days of a dataset whose rows are all there, in order. */
async function daysOf(
  { clickhouse, clock }: FilesDeps,
  { days: kind, table, forgets }: DatasetSource,
  daysOfKinds: readonly z.infer<typeof DayOfKind>[],
  readings: QueryParams,
): Promise<Day[]> {
  const ofKind = daysOfKinds.filter((one) => one.kind === kind);
  const days = table ? withBars(ofKind, await barDays(clickhouse, table, readings)) : ofKind;
  // Rows of an older day may have been dropped: the file written while it was complete stays.
  const wholeMs = forgets === null ? 0 : await keptSince(clickhouse, forgets, clock.now());
  return days.filter(({ day }) => Date.parse(day) >= wholeMs).toSorted(byDay);
}

/** Makes the file of a day, unless the target has it with the same content. */
async function updateDay(run: Run, dataset: Dataset, day: Day): Promise<void> {
  const { target, clickhouse, clock, signal } = run.deps;
  const { files } = run.manifest;
  const path = filePath(dataset, day.platform, day.day);
  const known = files.get(path);
  const complete = isComplete(day, run.coverage, clock.now());
  const isThere = known !== undefined && (!target.has || (await target.has(known)));
  if (isThere && isSame(known.content, day.content) && known.schema_version === SCHEMA_VERSION) {
    if (known.complete === complete) return;
    files.set(path, { ...known, complete });
    run.changed = true;
    return;
  }
  const local = join(run.folder, 'part');
  const made = await makeFile(clickhouse, SOURCES[dataset], day, local, signal).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.kind === 'unreachable') throw error;
    run.failed.push({ path, error });
  });
  if (!made) return;
  const about = { path, dataset, platform: day.platform, date: day.day };
  const state = { schema_version: SCHEMA_VERSION, complete, content: day.content };
  const entry: FileEntry = { ...about, ...made, ...state, ...revisionOf(known, made, target.keepsPrevious) };
  if (!isThere || known.sha256 !== made.sha256) await target.put(entry, local);
  files.set(path, entry);
  run.changed = true;
  if (systemClock.elapsed() - run.writtenAt >= MANIFEST_MS) await writeManifest(run);
  run.sum.made += 1;
  run.sum.rows += made.rows;
  run.sum.bytes += made.bytes;
}

const reachOf = async (clickhouse: ClickHouse, platform: Platform): Promise<PlatformEntry> => ({
  platform,
  ...feedCompleteness(platform, await storedHistory(clickhouse, platform, '')),
});

/** The revision of a new file: the known one, unless its bytes differ. */
export function revisionOf(
  known: FileEntry | undefined,
  made: { sha256: string },
  keepsPrevious: boolean,
): Pick<FileEntry, 'revision' | 'previous'> {
  if (!known) return { revision: 1 };
  const { revision, sha256, bytes, previous } = known;
  if (sha256 === made.sha256) return { revision, ...(previous ? { previous } : {}) };
  return { revision: revision + 1, ...(keepsPrevious ? { previous: { revision, sha256, bytes } } : {}) };
}

/** Separates the content of a day's trades from the content of its bars. */
const COMPUTED = ' / ';

const barDays = (clickhouse: ClickHouse, table: string, readings: QueryParams): Promise<Day[]> =>
  clickhouse.query('file_candle_days', Day, { table, ...readings }, { timeoutMs: LONG_MS });

/** Days with the content of their trades, followed by the content of their bars if these were read. */
function withBars(days: readonly Day[], bars: readonly Day[]): Day[] {
  const contents = new Map(bars.map(({ platform, day, content }) => [`${platform} ${day}`, content]));
  return days.map(({ platform, day, content }) => {
    const ofBars = contents.get(`${platform} ${day}`);
    return { platform, day, content: ofBars === undefined ? content : content + COMPUTED + ofBars };
  });
}

/** Whether a file has this content; bars that were not read are taken to be unchanged. */
const isSame = (known: string, content: string): boolean => known === content || known.startsWith(content + COMPUTED);

const byDay = (a: Day, b: Day): number => (`${a.day} ${a.platform}` < `${b.day} ${b.platform}` ? -1 : 1);
/** The start of a day, as ClickHouse text. */
const dayText = (ms: number): string => `${dayOf(ms)} 00:00:00`;

/** Whether the day is over, lies within the feed's stored span, and touches no gap of the feed. */
function isComplete({ platform, day }: Day, coverage: readonly Coverage[], nowMs: number): boolean {
  const startUs = Date.parse(day) * 1000;
  const endUs = startUs + DAY_MS * 1000;
  const feed = coverage.find((one) => one.platform === platform);
  if (!feed || nowMs * 1000 < endUs) return false;
  return (
    feed.from_us <= startUs && feed.to_us >= endUs && !feed.gaps.some(([from, to]) => from < endUs && to > startUs)
  );
}

/** Writes rows as a Parquet file of the engine, streamed to disk and hashed on the way. */
async function makeFile(
  clickhouse: ClickHouse,
  { query, table }: DatasetSource,
  { platform, day }: Day,
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
  const source = await clickhouse.stream(
    query,
    { platform, day, ...(table ? { table } : {}) },
    'Parquet',
    signal ? { signal } : {},
  );
  await pipeline(source, count, createWriteStream(local));
  const { num_rows: rows } = await parquetMetadataAsync(await asyncBufferFromFile(local));
  return { rows: Number(rows), bytes, sha256: hash.digest('hex') };
}
