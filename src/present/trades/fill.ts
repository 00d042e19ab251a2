import { sql } from 'drizzle-orm';
import type { Log } from '../../core/log.ts';
import { z } from 'zod';
import type { Platform } from '../../core/model.ts';
import { type Clock, storeTime } from '../../core/time.ts';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import type { Database, Postgres } from '../../stores/postgres/client.ts';
import { rowsOf } from '../../stores/postgres/json-row.ts';
import { READ_MS } from '../copy.ts';
import { ownKey, storeKey } from '../rows.ts';
import { CopiedName, CopiedSpan, CopiedTrade, tradesByKey } from './rows.ts';
import { cutTapes, KEPT, lockTapes, replaceTrades, storeNames, storeSpans } from './tapes.ts';
import { partsOf } from '../../core/parts.ts';

/** Maximum trades of a platform, about a gigabyte. Markets that traded last keep theirs. */
const ROWS_KEPT = 5_000_000;
/** Markets looked up at once. */
const MARKETS = 500;
/** Maximum trades of one transaction, unless it has a single market: a transaction locks the rows of its markets. */
const GROUP_ROWS = 5000;
/** A market with more stored trades is read alone, by sql/queries/present_tape.sql. */
const MANY = 5000;
/** Keys listed at once. */
const KEYS = 10_000;
/** Wallets of one statement: a server accepts parameters of up to 128 KiB. */
const WALLETS = 2000;
/** Later than every name was seen: with this time a query gives only the names of the wallets that it lists. */
export const NEVER = '2200-01-01 00:00:00.000';

const KeyRow = z.object({ market_key: z.string(), last_us: z.coerce.number() });

export interface FillDeps {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
  log: Log;
}

/**
 * Marks all markets with stored trades to be read from ClickHouse; until then their trades in PostgreSQL are ignored. Replaces the spans by
 * those of ClickHouse, which may have been restored to an earlier time.
 */
export async function listTapes({ clickhouse, postgres }: FillDeps, platform: Platform): Promise<void> {
  await postgres.db.execute(sql`
    INSERT INTO present_feeds (platform) VALUES (${platform})
    ON CONFLICT (platform) DO UPDATE SET is_listed = false, is_built = false`);
  for (let after = '0'; ;) {
    const rows = await clickhouse.query('present_tape_keys', KeyRow, { platform, after: BigInt(after), limit: KEYS });
    await cutTapes(postgres, platform, rows.map(ownTape));
    const last = rows.at(-1);
    if (rows.length < KEYS || !last) break;
    after = last.market_key;
  }
  const spans = await clickhouse.query('present_spans', CopiedSpan, { platform, since: storeTime(0) });
  await postgres.db.transaction(async (db) => {
    await db.execute(sql`DELETE FROM present_spans WHERE platform = ${platform}`);
    await storeSpans({ db }, platform, spans);
  });
  await postgres.db.execute(sql`UPDATE present_feeds SET is_listed = true WHERE platform = ${platform}`);
}

const ownTape = ({ market_key: key, last_us }: z.infer<typeof KeyRow>) => ({ key: ownKey(key), last_us });

/** Marks markets with trades stored since an instant to be read from ClickHouse again. */
export async function cutSince({ clickhouse, postgres }: FillDeps, platform: Platform, since: string): Promise<void> {
  const rows = await clickhouse.query('present_late_tapes', KeyRow, { platform, since });
  await cutTapes(postgres, platform, rows.map(ownTape));
}

/**
 * Reads the trades of marked markets from ClickHouse, the last traded first, for at most `withinMs`. `onLocked` is called after rows of
 * markets are locked and before their trades are read. Returns the number of markets.
 */
export async function fillTapes(
  deps: FillDeps,
  platform: Platform,
  { clock, withinMs, onLocked }: { clock: Clock; withinMs: number; onLocked: () => void },
): Promise<number> {
  const { db } = deps.postgres;
  const startedMs = clock.now();
  let filled = 0;
  for (;;) {
    const due = rowsOf(
      await db.execute(sql`
        SELECT t.key, coalesce(s.trades, 0) AS trades FROM present_tapes AS t LEFT JOIN present_states AS s USING (key)
        WHERE t.platform = ${platform} AND t.fill_at <= now() ORDER BY t.last_us DESC LIMIT ${MARKETS}`),
    ).map(({ key, trades }) => ({ key: String(key), trades: Number(trades) }));
    if (due.length === 0) break;
    if ((await rowsKept(deps, platform)) >= ROWS_KEPT) {
      await unmarkAll(db, platform);
      break;
    }
    for (const group of groupsOf(due)) await fillGroup(deps, platform, group, onLocked);
    filled += due.length;
    if (clock.now() - startedMs >= withinMs) return filled;
  }
  await db.execute(
    sql`UPDATE present_feeds SET is_built = true WHERE platform = ${platform} AND is_listed AND NOT is_built`,
  );
  return filled;
}

/** Ends the wait of all marked markets, in parts that stay within the time limit of a statement. */
async function unmarkAll(db: Database, platform: Platform): Promise<void> {
  const some = sql`SELECT key FROM present_tapes WHERE platform = ${platform} AND fill_at <= now() LIMIT ${KEYS}`;
  const unmark = sql`UPDATE present_tapes SET fill_at = NULL WHERE key = ANY(ARRAY(${some})) RETURNING key`;
  while (rowsOf(await db.execute(unmark)).length > 0);
}

async function rowsKept({ postgres }: FillDeps, platform: Platform): Promise<number> {
  const [row] = rowsOf(
    await postgres.db.execute(
      sql`SELECT coalesce(sum(rows), 0) AS kept FROM present_tapes WHERE platform = ${platform}`,
    ),
  );
  return Number(row?.['kept']);
}

/**
 * If a platform has more than ROWS_KEPT trades, removes those of the markets whose last trade is oldest, MARKETS at most. Returns the
 * number of these markets.
 */
export function dropOldest({ postgres }: FillDeps, platform: Platform): Promise<number> {
  return postgres.db.transaction(async (db) => {
    const over = rowsOf(
      await db.execute(sql`
        SELECT key FROM (
          SELECT key, sum(rows) OVER (ORDER BY last_us DESC, key) AS kept FROM present_tapes WHERE platform = ${platform} AND rows > 0
        ) AS t WHERE kept > ${ROWS_KEPT} ORDER BY kept DESC LIMIT ${MARKETS}`),
    ).map(({ key }) => String(key));
    if (over.length === 0) return 0;
    await lockTapes(db, over);
    const keys = sql`${sql.param(over)}::bigint[]`;
    await db.execute(sql`DELETE FROM present_trades WHERE key = ANY(${keys})`);
    await db.execute(
      sql`UPDATE present_tapes SET rows = 0, from_us = last_us + 1, fill_at = NULL WHERE key = ANY(${keys})`,
    );
    return over.length;
  });
}

interface DueTape {
  key: string;
  /** Number of its stored trades by its copied state. */
  trades: number;
}

function groupsOf(due: readonly DueTape[]): DueTape[][] {
  const groups: DueTape[][] = [];
  let rows = Infinity;
  for (const tape of due) {
    const own = Math.min(Math.max(tape.trades, 1), KEPT);
    const isMany = tape.trades > MANY;
    if (isMany || rows + own > GROUP_ROWS) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)?.push(tape);
    rows = isMany ? Infinity : rows + own;
  }
  return groups;
}

/** Replaces what PostgreSQL has of these markets by their newest trades. Their rows are locked before ClickHouse is read. */
async function fillGroup(
  deps: FillDeps,
  platform: Platform,
  group: readonly DueTape[],
  onLocked: () => void,
): Promise<void> {
  const keys = group.map(({ key }) => key);
  await deps.postgres.db.transaction(async (db) => {
    await lockTapes(db, keys);
    onLocked();
    const found = await readTrades(deps, group);
    const ofKey = tradesByKey(found);
    const tapes = keys.map((key) => {
      const own = ofKey.get(key) ?? [];
      // The oldest of KEPT + 1 trades marks an instant whose trades may not all have been read: newer ones are whole.
      const from_us = own.length > KEPT ? (own[KEPT]?.executed_us ?? 0) + 1 : 0;
      return { key, from_us, trades: own.filter(({ executed_us: us }) => us >= from_us) };
    });
    const trades = tapes.flatMap((tape) => tape.trades);
    await storeNames(db, platform, await namesOf(deps, platform, trades));
    await replaceTrades(
      db,
      tapes.map(({ key, from_us, trades: own }) => ({ key, from_us, rows: own.length })),
      trades,
    );
  });
}

function readTrades({ clickhouse }: FillDeps, group: readonly DueTape[]): Promise<CopiedTrade[]> {
  const [first] = group;
  const limit = KEPT + 1;
  if (first && first.trades > MANY)
    return clickhouse.query(
      'present_tape',
      CopiedTrade,
      { key: BigInt(storeKey(first.key)), limit },
      { timeoutMs: READ_MS },
    );
  const keys = group.map(({ key }) => BigInt(storeKey(key)));
  return clickhouse.query('present_tapes', CopiedTrade, { keys, limit }, { timeoutMs: READ_MS });
}

async function namesOf({ clickhouse }: FillDeps, platform: Platform, trades: readonly CopiedTrade[]) {
  const traders = new Set(trades.flatMap(({ wallet }) => (wallet === null ? [] : wallet.slice(2))));
  const names: CopiedName[] = [];
  for (const wallets of partsOf(traders, WALLETS)) {
    const asked = { platform, since: NEVER, wallets };
    names.push(...(await clickhouse.query('present_traders', CopiedName, asked)));
  }
  return names;
}
