import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { systemClock } from '../core/time.ts';
import { type Config, loadConfig } from '../core/config.ts';
import { ConfigError, StoreInUse } from '../core/config-error.ts';
import { isRunning, requireStore } from '../core/data-dir.ts';
import { createLog } from '../core/log.ts';
import { PLATFORMS } from '../core/model.ts';
import { DATASETS } from '../files/datasets.ts';
import { type FileSelection, writeDayFiles } from '../files/day-files.ts';
import { directoryTarget } from '../files/directory-target.ts';
import { copyKeptFiles } from '../files/kept-files.ts';
import { s3Target } from '../files/s3-target.ts';
import type { FileTarget } from '../files/target.ts';
import { openClickHouse } from '../stores/clickhouse/client.ts';
import { readOptions, runCommand } from './command.ts';

const USAGE = `npm run export -- --to DIR|s3://BUCKET/PREFIX [--from DAY] [--to DAY] [--dataset NAME] [--platform NAME]
Writes a Parquet file for each dataset, platform and UTC day, and manifest.json. Days that did not change are left alone. Days are
2026-11-20; without them all days up to now are written. --dataset and --platform may be repeated.
s3:// takes AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and, for other servers than Amazon's,
AWS_ENDPOINT_URL.
The store is CLICKHOUSE_URL, else the one in DATA_DIR. While a service runs on DATA_DIR, the day files that it keeps are copied: they
are at most FILES_SECONDS old.`;

/** Exports write to private temporary folders, named by process id. */
const FOLDER = /^forecastle-export-(\d+)-/;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

await runCommand(USAGE, async (args) => {
  const given = readArguments(args);
  const target = given.to.startsWith('s3://') ? s3Target(given.to, process.env) : directoryTarget(resolve(given.to));
  const config = loadConfig(process.env, 'stores');
  if (config.CLICKHOUSE_URL === undefined) requireStore(config.dataDir, 'clickhouse');
  await removeLeftovers();
  const temporary = await mkdtemp(join(tmpdir(), `forecastle-export-${process.pid}-`));
  try {
    const done = await writeFiles(config, target, temporary, given.selection);
    process.stdout.write(`${done.made} files written, ${done.rows} rows, ${done.bytes} bytes.\n`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
});

/** Writes the files from the store, or while a service has it, copies those that the service keeps. */
async function writeFiles(config: Config, target: FileTarget, temporary: string, selection: FileSelection) {
  try {
    const clickhouse = await openClickHouse(config, createLog(config, process.stderr));
    try {
      return await writeDayFiles({ clickhouse, target, temporary, clock: systemClock }, selection);
    } finally {
      await clickhouse.close();
    }
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    const done = await copyKeptFiles({ dataDir: config.dataDir, target, temporary }, selection);
    if (done) return done;
    throw new ConfigError(
      `${error.message}. A service that runs on it keeps day files, which are copied, from the first minute on unless FILES_SECONDS is 0`,
    );
  }
}

/** Removes leftovers of this user's killed exports: folders of processes that no longer run. */
async function removeLeftovers(): Promise<void> {
  await mkdir(tmpdir(), { recursive: true });
  for (const name of await readdir(tmpdir())) {
    const [, pid] = FOLDER.exec(name) ?? [];
    const folder = join(tmpdir(), name);
    if (pid === undefined || isRunning(Number(pid))) continue;
    const { uid } = await lstat(folder);
    if (uid === process.getuid?.()) await rm(folder, { recursive: true, force: true });
  }
}

function readArguments(args: string[]) {
  const many = { type: 'string', multiple: true } as const;
  const given = readOptions(USAGE, args, { to: many, from: { type: 'string' }, dataset: many, platform: many });
  // --to gives both the target and, as a day, the end.
  const targets = (given.to ?? []).filter((value) => !DAY.test(value));
  const [to] = targets;
  if (to === undefined || targets.length > 1) throw new ConfigError(USAGE);
  const words = <const W extends readonly string[]>(name: 'dataset' | 'platform', all: W): W[number][] => {
    const named = given[name] ?? [...all];
    const wrong = named.find((word) => !all.includes(word));
    if (wrong !== undefined)
      throw new ConfigError(`--${name}: must be one of ${all.join(', ')}, received ${JSON.stringify(wrong)}`);
    return named as W[number][];
  };
  const selection = {
    datasets: words('dataset', DATASETS),
    platforms: words('platform', PLATFORMS),
    fromMs: dayMs('--from', given.from, 0),
    toMs: dayMs(
      '--to',
      given.to?.findLast((value) => DAY.test(value)),
      systemClock.now(),
    ),
  };
  if (selection.fromMs > selection.toMs) throw new ConfigError('--from: must not be after the last day');
  return { to, selection };
}

function dayMs(name: string, text: string | undefined, otherwise: number): number {
  const ms = text === undefined ? otherwise : Date.parse(text);
  // Date.parse takes 2026-02-30 as the second of March.
  if (text !== undefined && (!DAY.test(text) || Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text)))
    throw new ConfigError(`${name}: must be a day like 2026-11-20, received ${JSON.stringify(text)}`);
  return ms;
}
