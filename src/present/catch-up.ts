import { sql } from 'drizzle-orm';
import type { Log } from '../core/log.ts';
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
import { refsOf } from '../stores/clickhouse/refs.ts';
import { storeClock } from '../stores/clickhouse/store-clock.ts';

/** Rows become visible after their time: the last minutes before the mark are compared again. */
const MARK_OVERLAP_MS = 120_000;
/** Markets copied at once: a group that a busy store reads too slowly fails the run. */
const CAUGHT_UP_AT_ONCE = 500;
/** Rows compared by one statement. */
const COMPARED = 5000;
/** The tables that lists, searches and look-ups read. */
const COPIES =
  'present_markets, present_states, present_ranks, present_names, present_searched, present_events, present_event_ranks, present_event_searched';
/** The number of the lock that keeps two processes from building at once; migrations have another one. */
const BUILD_LOCK = 4_051_963_408;

const WrittenRow = z.object({ ref: z.string(), key: z.string(), written_at: z.string(), info_version: z.string() });
type WrittenRow = z.infer<typeof WrittenRow>;
const NextRow = z.object({ ref: z.string(), market_key: z.string() });

interface Deps {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db' | 'transact'>;
  log: Log;
}

/** Copies all markets of the platforms that have no mark, as in a new database and after an upgrade. Others wait for it. */
export async function buildPresent(deps: Deps, { again = false }: { again?: boolean } = {}): Promise<void> {
  await deps.postgres.transact(async (run) => {
    await run('SELECT pg_advisory_xact_lock($1)', [BUILD_LOCK]);
    let copied = 0;
    for (const platform of PLATFORMS) {
      if (again || (await markOf(deps, platform)) === null) copied += await copyAll(deps, platform);
      if (again) await listTapes(deps, platform);
    }
    // PostgreSQL would count the new rows a minute later, and until then read whole tables for a page.
    if (copied > 0) await run(`ANALYZE ${COPIES}`);
  });
}

/** Copies the markets of a platform and returns their number. */
async function copyAll(deps: Deps, platform: Platform): Promise<number> {
  const { clickhouse, log } = deps;
  const startedMs = await storeClock(clickhouse);
  let after = '0';
  let copied = 0;
  for (;;) {
    const rows = await clickhouse.query('present_next', NextRow, {
      platform,
      after: BigInt(after),
      limit: CAUGHT_UP_AT_ONCE,
    });
    await copyMarkets(
      deps,
      rows.map(({ ref }) => ({ platform, ref })),
    );
    const last = rows.length < CAUGHT_UP_AT_ONCE ? null : (rows.at(-1)?.market_key ?? null);
    await copyOthers(deps, platform, { after, upTo: last, keys: rows.map(({ market_key: key }) => key) });
    copied += rows.length;
    if (last === null) break;
    after = last;
    if (copied % (20 * CAUGHT_UP_AT_ONCE) === 0)
      log.info({ platform, markets: copied }, 'Copying markets to PostgreSQL');
  }
  await copyAllMatches(deps, platform);
  await setMark(deps, platform, startedMs);
  if (copied > 0) log.info({ platform, markets: copied }, 'Copied all markets to PostgreSQL');
  return copied;
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
  for (const part of partsOf(markets, CAUGHT_UP_AT_ONCE)) await copyMarkets(deps, part);
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

  /**
   * Catches up, and renews ranks that change with time. Under a new lease it also compares trades, because the previous holder may have
   * stopped before it copied them.
   */
  async run(lease: object): Promise<{ freshTo: Date; rows: number } | null> {
    const freshTo = new Date(this.#deps.clock.now());
    const rows = await catchUp(this.#deps, this.#platform, {
      trades: this.#under !== lease,
      copier: this.#deps.copier,
    });
    this.#under = lease;
    await forgetFormer(this.#deps, this.#platform);
    await refreshRanks(this.#deps, this.#platform, this.#deps.clock.now());
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
  const since = storeTime(mark - MARK_OVERLAP_MS);
  const written = await clickhouse.query('present_written', WrittenRow, { platform, since });
  const traded = trades ? await refsOf(clickhouse, 'present_traded', { platform, since }) : [];
  const refs = [...new Set([...(await differing(deps, written)), ...traded])];
  await copyAllOf(deps, platform, refs);
  const matches = await catchUpMatches(deps, platform, mark - MARK_OVERLAP_MS);
  await copier?.catchUp(mark - MARK_OVERLAP_MS);
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
      sql`SELECT floor(extract(epoch FROM complete_to) * 1000) AS ms FROM present_platforms WHERE platform = ${platform}`,
    ),
  );
  return row?.['ms'] == null ? null : Number(row['ms']);
}

async function setMark({ postgres }: Deps, platform: Platform, ms: number): Promise<void> {
  const at = new Date(ms).toISOString();
  await postgres.db.execute(sql`
    INSERT INTO present_platforms (platform, complete_to) VALUES (${platform}, ${at}::timestamptz)
    ON CONFLICT (platform) DO UPDATE SET complete_to = excluded.complete_to`);
}
