import { sql } from 'drizzle-orm';
import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { type Clock, storeTime } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { copyMarkets, forgetFormer, refreshRanks } from './copy.ts';
import { catchUpMatches, copyAllMatches } from './matches.ts';
import { ownKey } from './rows.ts';
import type { TradeCopier } from './trades/copier.ts';
import { listTapes } from './trades/fill.ts';
import { partsOf } from '../core/parts.ts';
import { storeClock } from '../stores/clickhouse/store-clock.ts';

/** Rows become visible after their time: the last minutes before the mark are compared again. */
const OVERLAP_MS = 120_000;
/** Markets copied at once: a group that a busy store reads too slowly fails the run. */
const GROUP = 500;
/** Rows compared by one statement. */
const COMPARED = 5000;
/** The number of the lock that keeps two processes from building at once; migrations have another one. */
const BUILD_LOCK = 4_051_963_408;

const RefRow = z.object({ ref: z.string() });
const WrittenRow = RefRow.extend({ key: z.string(), written_at: z.string(), info_version: z.string() });
type WrittenRow = z.infer<typeof WrittenRow>;
const NextRow = RefRow.extend({ market_key: z.string() });

interface Deps {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db' | 'transact'>;
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
}

/** Copies all markets of the platforms that have no mark, as in a new database and after an upgrade. Others wait for it. */
export async function buildPresent(deps: Deps, { again = false }: { again?: boolean } = {}): Promise<void> {
  await deps.postgres.transact(async (run) => {
    await run('SELECT pg_advisory_xact_lock($1)', [BUILD_LOCK]);
    for (const platform of PLATFORMS) {
      if (again || (await markOf(deps, platform)) === null) await copyAll(deps, platform);
      if (again) await listTapes(deps, platform);
    }
  });
}

async function copyAll(deps: Deps, platform: Platform): Promise<void> {
  const { clickhouse, log } = deps;
  const startedMs = await storeClock(clickhouse);
  let after = '0';
  let copied = 0;
  for (;;) {
    const rows = await clickhouse.query('present_next', NextRow, { platform, after: BigInt(after), limit: GROUP });
    await copyMarkets(
      deps,
      rows.map(({ ref }) => ({ platform, ref })),
    );
    const last = rows.length < GROUP ? null : (rows.at(-1)?.market_key ?? null);
    await copyOthers(deps, platform, { after, upTo: last, keys: rows.map(({ market_key: key }) => key) });
    copied += rows.length;
    if (last === null) break;
    after = last;
    if (copied % (20 * GROUP) === 0) log.info({ platform, markets: copied }, 'Copying markets to PostgreSQL');
  }
  await copyAllMatches(deps, platform);
  await setMark(deps, platform, startedMs);
  if (copied > 0) log.info({ platform, markets: copied }, 'Copied all markets to PostgreSQL');
}

/** Copies the other markets that PostgreSQL has in a range of keys, which removes those that ClickHouse does not list. */
async function copyOthers(
  deps: Deps,
  platform: Platform,
  { after, upTo, keys }: { after: string; upTo: string | null; keys: readonly string[] },
): Promise<void> {
  const bounds = [after, upTo ?? String((1n << 64n) - 1n)].map(ownKey);
  const rows = await deps.postgres.db.execute(sql`
    SELECT ref FROM present_markets WHERE platform = ${platform} AND key > ${bounds[0]}::bigint AND key <= ${bounds[1]}::bigint
      AND key <> ALL(${sql.param(keys.map(ownKey))}::bigint[])`);
  await copyAllOf(
    deps,
    platform,
    rowsOf(rows).map(({ ref }) => String(ref)),
  );
}

async function copyAllOf(deps: Deps, platform: Platform, refs: readonly string[]): Promise<void> {
  const markets = refs.map((ref) => ({ platform, ref }));
  for (const part of partsOf(markets, GROUP)) await copyMarkets(deps, part);
}

interface KeeperDeps extends Deps {
  clock: Clock;
  copier: Pick<TradeCopier, 'catchUp'>;
}

/** Keeps the copy of one platform up, for the holder of its lease of trades. */
export class PresentKeeper {
  readonly #deps: KeeperDeps;
  readonly #platform: Platform;
  #under: object | null = null;

  constructor(deps: KeeperDeps, platform: Platform) {
    this.#deps = deps;
    this.#platform = platform;
  }

  /** Catches up, and renews ranks that change with time. Under a new lease, trades are compared too: its previous holder may not have copied them. */
  async run(lease: object): Promise<{ freshTo: Date; rows: number } | null> {
    const freshTo = new Date(this.#deps.clock.now());
    const rows = await catchUp(this.#deps, this.#platform, {
      trades: this.#under !== lease,
      copier: this.#deps.copier,
    });
    this.#under = lease;
    await refreshRanks(this.#deps, this.#platform, this.#deps.clock.now());
    await forgetFormer(this.#deps, this.#platform);
    return rows === 0 ? null : { freshTo, rows };
  }
}

/**
 * Copies what a killed process stored in ClickHouse and did not copy: markets written since the mark whose copy has another time of
 * writing, verdicts on pairs, and with `trades` also markets whose trades were stored since the mark. `copier` copies the trades
 * themselves. Then moves the mark.
 */
export async function catchUp(
  deps: Deps,
  platform: Platform,
  { trades, copier }: { trades: boolean; copier?: KeeperDeps['copier'] },
): Promise<number> {
  const { clickhouse } = deps;
  const nowMs = await storeClock(clickhouse);
  const mark = await markOf(deps, platform);
  if (mark === null) {
    await buildPresent(deps);
    return 0;
  }
  const since = storeTime(mark - OVERLAP_MS);
  const written = await clickhouse.query('present_written', WrittenRow, { platform, since });
  const traded = trades ? await clickhouse.query('present_traded', RefRow, { platform, since }) : [];
  const refs = [...new Set([...(await differing(deps, written)), ...traded.map(({ ref }) => ref)])];
  await copyAllOf(deps, platform, refs);
  const matches = await catchUpMatches(deps, platform, mark - OVERLAP_MS);
  await copier?.catchUp(mark - OVERLAP_MS);
  await setMark(deps, platform, nowMs);
  return refs.length + matches;
}

/** The markets of `written` whose copy has another time of writing, or which have no copy. */
async function differing({ postgres }: Deps, written: readonly WrittenRow[]): Promise<string[]> {
  const found: string[] = [];
  for (const part of partsOf(written, COMPARED)) {
    const rows = await postgres.db.execute(sql`
      SELECT w.ref FROM jsonb_to_recordset(${JSON.stringify(part)}::jsonb) AS w(ref text, key bigint, written_at timestamptz, info_version timestamptz)
      LEFT JOIN present_states AS s USING (key) LEFT JOIN present_markets AS m USING (key)
      WHERE (s.written_at, m.info_version) IS DISTINCT FROM (w.written_at, w.info_version)`);
    found.push(...rowsOf(rows).map(({ ref }) => String(ref)));
  }
  return found;
}

async function markOf({ postgres }: Deps, platform: Platform): Promise<number | null> {
  const [row] = rowsOf(
    await postgres.db.execute(
      sql`SELECT floor(extract(epoch FROM copied_to) * 1000) AS ms FROM present_platforms WHERE platform = ${platform}`,
    ),
  );
  return row?.['ms'] == null ? null : Number(row['ms']);
}

async function setMark({ postgres }: Deps, platform: Platform, ms: number): Promise<void> {
  const at = new Date(ms).toISOString();
  await postgres.db.execute(sql`
    INSERT INTO present_platforms (platform, copied_to) VALUES (${platform}, ${at}::timestamptz)
    ON CONFLICT (platform) DO UPDATE SET copied_to = excluded.copied_to`);
}
