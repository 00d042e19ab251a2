import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { connect } from '../stores/clickhouse/client.ts';
import { ConfigError } from '../core/config-error.ts';
import { makeDataDir, refuseUnfinishedRestore, requireStore, RESTORING } from '../core/data-dir.ts';
import type { Config } from '../core/config.ts';
import { DAY_MS, systemClock } from '../core/time.ts';
import type { Log } from '../core/log.ts';
import { startEmbeddedClickHouse } from '../embedded/clickhouse/supervisor.ts';
import { CLUSTER, startEmbeddedPostgres } from '../embedded/postgres/supervisor.ts';

type Settings = Pick<Config, 'dataDir' | 'CLICKHOUSE_URL' | 'DATABASE_URL' | 'CLICKHOUSE_MEMORY_MB' | 'version'>;

/** Without these, sessions end and sealed platform credentials cannot be opened again. */
const SECRETS = ['jwt_secret', 'credentials_key'];
/** Folders in DATA_DIR, and in a backup. */
const STORES = ['clickhouse', CLUSTER] as const;
/** Day files, if the service has made any: rows that are too old for the store remain only there. */
const FILES = 'files';
const FOLDERS = [...STORES, FILES] as const;
const Manifest = z.object({ version: z.string(), createdAt: z.string() });

/** Writes both embedded stores, the day files and the generated secrets into a new or empty folder. The service must be stopped. */
export async function backUp(config: Settings, folder: string, log: Log): Promise<void> {
  requireEmbedded(config);
  for (const store of STORES) requireStore(config.dataDir, store);
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0))
    throw new ConfigError(`DIR: must be an empty directory or new, received ${folder}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const backup = `BACKUP DATABASE forecastle TO File('${quoted(folder)}/clickhouse')`;
  await withEngine(config, { backups: resolve(folder), log }, backup);
  // Opening it refuses a database in use, and closing it leaves consistent files.
  await (await startEmbeddedPostgres({ dataDir: config.dataDir, log, clock: systemClock })).close();
  copyCluster(config.dataDir, folder);
  copyFiles(config.dataDir, folder);
  copySecrets(config.dataDir, folder);
  const manifest: z.input<typeof Manifest> = {
    version: config.version,
    createdAt: new Date(systemClock.now()).toISOString(),
  };
  // Written last: a folder without it is an unfinished backup.
  writeFileSync(join(folder, 'backup.json'), `${JSON.stringify(manifest)}\n`, { mode: 0o600 });
}

/** Puts a backup into a DATA_DIR that holds no stores yet. */
export async function restore(config: Settings, folder: string, log: Log): Promise<z.output<typeof Manifest>> {
  requireEmbedded(config);
  if (!['backup.json', ...STORES].every((part) => existsSync(join(folder, part))))
    throw new ConfigError(`DIR: must be a finished backup, received ${folder}`);
  const held = FOLDERS.find((store) => existsSync(join(config.dataDir, store)));
  if (held !== undefined) {
    refuseUnfinishedRestore(config.dataDir);
    throw new ConfigError(
      `DATA_DIR: must hold no stores and no day files yet, received ${config.dataDir}; move its ${held} away first`,
    );
  }
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(folder, 'backup.json'), 'utf8')));
  makeDataDir(config.dataDir);
  const marker = join(config.dataDir, RESTORING);
  writeFileSync(marker, '', { mode: 0o600 });
  try {
    const statement = `RESTORE DATABASE forecastle FROM File('${quoted(folder)}/clickhouse')`;
    await withEngine(config, { backups: resolve(folder), restoring: true, log }, statement);
    copyCluster(folder, config.dataDir);
    copyFiles(folder, config.dataDir);
    copySecrets(folder, config.dataDir);
  } catch (error) {
    for (const store of FOLDERS) rmSync(join(config.dataDir, store), { recursive: true, force: true });
    rmSync(marker);
    throw error;
  }
  rmSync(marker);
  return manifest;
}

function requireEmbedded(config: Settings): void {
  for (const name of ['CLICKHOUSE_URL', 'DATABASE_URL'] as const)
    if (config[name] !== undefined)
      throw new ConfigError(`${name}: must be unset here; servers are backed up by their own tools (docs/backups.md)`);
}

type EngineOptions = Pick<Parameters<typeof startEmbeddedClickHouse>[0], 'backups' | 'restoring' | 'log'>;

async function withEngine(config: Settings, options: EngineOptions, statement: string): Promise<void> {
  const { dataDir, CLICKHOUSE_MEMORY_MB: memoryMb } = config;
  const engine = await startEmbeddedClickHouse({ dataDir, memoryMb, ...options, clock: systemClock });
  // The engine sends nothing until all is copied, which takes hours for a large store.
  const store = connect(engine.url, () => engine.close(), { commandMs: DAY_MS });
  try {
    await store.command(statement);
  } finally {
    await store.close();
  }
}

const quoted = (folder: string) => resolve(folder).replaceAll('\\', '\\\\').replaceAll("'", "\\'");

/** PostgreSQL starts only on a directory that is its owner's; not every version of Node copies the mode of directories. */
function copyCluster(from: string, to: string): void {
  cpSync(join(from, CLUSTER), join(to, CLUSTER), { recursive: true });
  chmodSync(join(to, CLUSTER), 0o700);
}

function copyFiles(from: string, to: string): void {
  if (!existsSync(join(from, FILES))) return;
  cpSync(join(from, FILES), join(to, FILES), { recursive: true, filter: (path) => !path.endsWith('.tmp') });
}

function copySecrets(from: string, to: string): void {
  for (const name of SECRETS.filter((secret) => existsSync(join(from, secret)))) {
    copyFileSync(join(from, name), join(to, name));
    chmodSync(join(to, name), 0o600);
  }
}
