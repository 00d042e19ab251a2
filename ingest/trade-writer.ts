import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse.ts';
import type { Lease } from '../src/redis.ts';
import { tradesKeptFrom } from '../src/retention.ts';
import type { Platform, TradeRecord } from '../src/schemas.ts';
import { microsecondText, packTradeId, TRADE_COLUMNS, tradeLine } from '../src/storage-rows.ts';
import { reconcile } from './reconcile.ts';
import type { Spool } from './spool.ts';

/** An insert may take this long; a lease with less left is not written under. */
const INSERT_MARGIN_MS = 3000;
const RECENT_US = 2 * 3600 * 1_000_000;
const RECENT_LIMIT = 400_000;
const CHECK_ROWS = 1000;
/** Trades younger than this are never dropped for their age: RETENTION_TRADES_DAYS is 35 at least. */
const KEPT_US = 30 * 86_400 * 1_000_000;
/** How far before a failure the reconciliation looks: longer than any insert and any skew between clocks. */
const RECONCILE_MARGIN_MS = 10 * 60_000;
/** An insert of the writer before, sent while its lease still held, has arrived by then. */
const LATE_INSERT_MS = 2 * 60_000;

export interface TradeWriterDeps {
  clickhouse: ClickHouse;
  spool: Spool;
  log: FastifyBaseLogger;
  platform: Platform;
}

interface Batch {
  trades: TradeRecord[];
  token: string;
  body: Buffer;
}

/** What a trade is found by in the store. */
type StoredKey = Pick<TradeRecord, 'tradeId' | 'ref' | 'transactionHash' | 'executedAtUs'>;
type SpooledTrade = StoredKey & { line: string };

/**
 * Stores trades exactly once. What is already stored is dropped before the insert, because views see inserted blocks, not
 * deduplicated rows; the batch is spooled, inserted under the spool's name as token, then forgotten. One writer a platform at a
 * time: the caller's lease says so, and is checked before every insert.
 */
export class TradeWriter {
  readonly #deps: TradeWriterDeps;
  /** Two stages, a batch each: one is checked, serialised and spooled while the one before it is being inserted. */
  readonly #preparing = new PQueue({ concurrency: 1 });
  readonly #inserting = new PQueue({ concurrency: 1 });
  /** Ids between the stages: spooled, not acknowledged. */
  readonly #underWay = new Set<string>();
  /** Ids of every stored trade executed at or after #floorUs. */
  #recent = new Map<string, number>();
  #floorUs = 0;
  /** No stored trade of the platform was executed before this; null while the store is empty. */
  #oldestUs: number | null = null;
  #refs = new Set<string>();
  #traders = new Map<string, string>();
  /** Set when an insert's fate is unknown: the next write repairs first. */
  #repairFrom: Date | null = null;
  #insertingSince: Date | null = null;
  /** When to look again for what the writer before has stored meanwhile. */
  #lateCheck: { dueMs: number; from: Date } | null = null;

  constructor(deps: TradeWriterDeps) {
    this.#deps = deps;
  }

  /** Repairs what a crash left (spooled batches, roll-ups behind their trades) and learns what is stored. */
  open(lease: Lease, reconciledTo: Date | null): Promise<void> {
    return this.#preparing.add(() => this.#inserting.add(() => this.#open(lease, reconciledTo)));
  }

  async #open(lease: Lease, reconciledTo: Date | null): Promise<void> {
    this.#recent.clear();
    this.#repairFrom = reconciledTo ? new Date(reconciledTo.getTime() - RECONCILE_MARGIN_MS) : new Date(0);
    await this.#repair(lease);
    const openedMs = Date.now();
    const from = new Date(openedMs - RECONCILE_MARGIN_MS);
    this.#lateCheck = reconciledTo && { dueMs: openedMs + LATE_INSERT_MS, from };
    const [span] = await this.#deps.clickhouse.sql<{ n: string; oldest: string; newest: string }>(
      `SELECT count() AS n, toUnixTimestamp64Micro(min(executed_at)) AS oldest, toUnixTimestamp64Micro(max(executed_at)) AS newest
       FROM trades WHERE platform = {platform:String}`,
      { platform: this.#deps.platform },
    );
    if (!span || Number(span.n) === 0) {
      this.#oldestUs = null;
      this.#floorUs = Date.now() * 1000 - RECENT_US;
      return;
    }
    this.#oldestUs = Number(span.oldest);
    this.#floorUs = Number(span.newest) - RECENT_US;
    const rows = await this.#deps.clickhouse.sql<{ trade_id: string; at: string }>(
      `SELECT trade_id, toUnixTimestamp64Micro(executed_at) AS at FROM trades
       WHERE platform = {platform:String} AND executed_at >= {floor:DateTime64(6)} ORDER BY executed_at DESC LIMIT {limit:UInt32}`,
      { platform: this.#deps.platform, floor: microsecondText(this.#floorUs), limit: RECENT_LIMIT },
    );
    for (const row of rows.toReversed()) this.#recent.set(row.trade_id, Number(row.at));
    if (rows.length === RECENT_LIMIT) this.#floorUs = Number(rows.at(-1)?.at) + 1;
  }

  /** Every batch acknowledged before this instant reached all roll-ups. */
  soundSince(): Date {
    return this.#repairFrom ?? this.#insertingSince ?? new Date();
  }

  /**
   * Stores the trades that are not stored yet; resolves when they and every roll-up hold them. Returns how many were new.
   * Batches are stored in the order of the calls; a batch that fails stays spooled and is repaired before the next.
   */
  async write(trades: readonly TradeRecord[], lease: Lease): Promise<number> {
    const batch = await this.#preparing.add(() => this.#prepare(trades, lease));
    if (!batch) return 0;
    await this.#inserting.add(() => this.#store(batch, lease));
    return batch.trades.length;
  }

  async #prepare(trades: readonly TradeRecord[], lease: Lease): Promise<Batch | null> {
    if (this.#lateCheck && Date.now() >= this.#lateCheck.dueMs) {
      this.#repairFrom ??= this.#lateCheck.from;
      this.#lateCheck = null;
    }
    if (this.#repairFrom) await this.#inserting.add(() => this.#repair(lease));
    const fresh = await this.#unstored(trades);
    if (fresh.length === 0) return null;
    await this.#describe(fresh);
    const token = `${this.#deps.platform}-${Date.now()}-${randomUUID()}`;
    const body = linesOf(fresh);
    await this.#deps.spool.put(token, body);
    for (const trade of fresh) this.#underWay.add(trade.tradeId);
    return { trades: fresh, token, body };
  }

  async #store({ trades, token, body }: Batch, lease: Lease): Promise<void> {
    try {
      await this.#insert(token, body, lease);
      await this.#deps.spool.remove(token);
      for (const trade of trades) this.#remember(trade.tradeId, trade.executedAtUs);
    } finally {
      for (const trade of trades) this.#underWay.delete(trade.tradeId);
    }
    if (this.#recent.size > RECENT_LIMIT) this.#forgetOldest();
  }

  #remember(tradeId: string, executedAtUs: number): void {
    if (this.#oldestUs === null || executedAtUs < this.#oldestUs) this.#oldestUs = executedAtUs;
    if (executedAtUs >= this.#floorUs) this.#recent.set(tradeId, executedAtUs);
  }

  async #unstored(trades: readonly TradeRecord[]): Promise<TradeRecord[]> {
    const unseen = new Map<string, TradeRecord>();
    for (const trade of trades) {
      if (!this.#recent.has(trade.tradeId) && !this.#underWay.has(trade.tradeId)) unseen.set(trade.tradeId, trade);
    }
    const doubtful = [...unseen.values()].filter(
      (t) => t.executedAtUs < this.#floorUs && this.#oldestUs !== null && t.executedAtUs >= this.#oldestUs,
    );
    for (let i = 0; i < doubtful.length; i += CHECK_ROWS) {
      for (const id of await this.#storedIds(doubtful.slice(i, i + CHECK_ROWS))) unseen.delete(id);
    }
    const old = [...unseen.values()].filter((t) => t.executedAtUs < Date.now() * 1000 - KEPT_US);
    const keptFromUs = old.length === 0 ? 0 : (await tradesKeptFrom(this.#deps.clickhouse)).getTime() * 1000;
    const dropped = old.filter((t) => t.executedAtUs < keptFromUs);
    for (let i = 0; i < dropped.length; i += CHECK_ROWS) {
      for (const id of await this.#countedIds(dropped.slice(i, i + CHECK_ROWS))) unseen.delete(id);
    }
    return [...unseen.values()];
  }

  /** Of these trades those of minutes whose rows were dropped for their age: every roll-up has them, and would count them again. */
  async #countedIds(trades: readonly TradeRecord[]): Promise<string[]> {
    const refs = [...new Set(trades.map((t) => t.ref))];
    const keys = refs.map((ref) => `sipHash64('${this.#deps.platform}', unhex('${Buffer.from(ref).toString('hex')}'))`);
    const minutes = trades.map((t) => Math.floor(t.executedAtUs / 60_000_000) * 60);
    const rows = await this.#deps.clickhouse.sql<{ market: number; minute: number }>(
      `SELECT indexOf([${keys.join(',')}], market_key) AS market, toUnixTimestamp(t) AS minute
       FROM (
         SELECT market_key, t, sum(n) AS counted FROM candles_1m
         WHERE market_key IN (${keys.join(',')}) AND t >= toDateTime({from:UInt32}, 'UTC') AND t <= toDateTime({to:UInt32}, 'UTC')
         GROUP BY market_key, t
       ) AS b
       LEFT JOIN (
         SELECT market_key, toStartOfMinute(executed_at) AS t, count() AS held FROM trades FINAL
         WHERE market_key IN (${keys.join(',')}) AND executed_at >= toDateTime({from:UInt32}, 'UTC') AND executed_at < toDateTime({to:UInt32}, 'UTC') + 60
         GROUP BY market_key, t
       ) AS r USING (market_key, t)
       WHERE counted > held`,
      { from: Math.min(...minutes), to: Math.max(...minutes) },
    );
    const gone = new Set(rows.map(({ market, minute }) => `${refs[Number(market) - 1]} ${minute}`));
    return trades.filter((t, i) => gone.has(`${t.ref} ${minutes[i]}`)).map((t) => t.tradeId);
  }

  async #storedIds(trades: readonly StoredKey[]): Promise<string[]> {
    // Only digits and hex reach the text: a thousand references do not fit in a URL as parameters.
    const keys = [...new Set(trades.map((t) => t.ref))].map(
      (ref) => `sipHash64('${this.#deps.platform}', unhex('${Buffer.from(ref).toString('hex')}'))`,
    );
    const orders = trades.map((trade) => String(packTradeId(trade).order));
    const times = trades.map((trade) => trade.executedAtUs);
    const rows = await this.#deps.clickhouse.sql<{ trade_id: string }>(
      `SELECT trade_id FROM trades WHERE market_key IN (${keys.join(',')})
       AND executed_at >= {from:DateTime64(6)} AND executed_at <= {to:DateTime64(6)} AND trade_order IN (${orders.join(',')})`,
      { from: microsecondText(Math.min(...times)), to: microsecondText(Math.max(...times)) },
    );
    return rows.map((row) => row.trade_id);
  }

  async #insert(token: string, body: Buffer, lease: Lease): Promise<void> {
    this.#insertingSince = new Date();
    try {
      if (lease.remainingMs() < INSERT_MARGIN_MS)
        throw new Error(`lease ${lease.name} is about to end; nothing was written`);
      await this.#deps.clickhouse.insert(TRADE_COLUMNS, body, { token });
    } catch (error) {
      this.#repairFrom ??= new Date(Date.now() - RECONCILE_MARGIN_MS);
      throw error;
    } finally {
      this.#insertingSince = null;
    }
  }

  /** Names of markets and traders go first: they are idempotent, and a trade must never be seen without them. */
  async #describe(trades: readonly TradeRecord[]): Promise<void> {
    const { platform, clickhouse } = this.#deps;
    const refs = [...new Set(trades.map((trade) => trade.ref))].filter((ref) => !this.#refs.has(ref));
    if (refs.length > 0)
      await clickhouse.insert(
        'market_refs (platform, ref)',
        refs.map((ref) => ({ platform, ref })),
      );
    if (this.#refs.size > 1_000_000) this.#refs.clear();
    for (const ref of refs) this.#refs.add(ref);

    const people = new Map<string, object>();
    for (const { trader } of trades) {
      if (!trader || trader.address === '') continue;
      const print = `${trader.name}\n${trader.pseudonym}\n${trader.profileImage}`;
      const address = trader.address.toLowerCase();
      if (this.#traders.get(address) === print) continue;
      if (this.#traders.size > 200_000) this.#traders.clear();
      this.#traders.set(address, print);
      people.set(address, {
        platform,
        address,
        name: trader.name.toWellFormed(),
        pseudonym: trader.pseudonym.toWellFormed(),
        profile_image: trader.profileImage.toWellFormed(),
        seen_at: new Date().toISOString(),
      });
    }
    if (people.size > 0) {
      await clickhouse.insert('traders (platform, address, name, pseudonym, profile_image, seen_at)', [
        ...people.values(),
      ]);
    }
  }

  /** Sends spooled batches again under their tokens, then what is still missing, then corrects the roll-ups. */
  async #repair(lease: Lease): Promise<void> {
    if (!this.#repairFrom) return;
    const since = this.#repairFrom;
    for (const token of await this.#deps.spool.pending(`${this.#deps.platform}-`)) {
      const body = await this.#deps.spool.read(token);
      const spooled = spooledTrades(body);
      if (spooled === null) {
        // A power cut tears files. No cursor has moved for what was in it: it is read again.
        this.#deps.log.warn({ platform: this.#deps.platform, token }, 'a spooled batch is damaged; leaving it out');
        await this.#deps.spool.remove(token);
        continue;
      }
      await this.#insert(token, body, lease);
      const missing = await this.#missing(spooled);
      if (missing.length > 0) {
        const rows = missing.length;
        this.#deps.log.warn(
          { platform: this.#deps.platform, rows },
          'a batch was lost under its token; storing it again',
        );
        await this.#insert(
          `${token}-${randomUUID()}`,
          Buffer.from(`${missing.map((t) => t.line).join('\n')}\n`),
          lease,
        );
      }
      await this.#deps.spool.remove(token);
      for (const trade of spooled) this.#remember(trade.tradeId, trade.executedAtUs);
    }
    await reconcile(this.#deps.clickhouse, this.#deps.platform, since);
    this.#repairFrom = null;
  }

  async #missing(spooled: SpooledTrade[]): Promise<SpooledTrade[]> {
    const stored = new Set<string>();
    for (let i = 0; i < spooled.length; i += CHECK_ROWS) {
      for (const id of await this.#storedIds(spooled.slice(i, i + CHECK_ROWS))) stored.add(id);
    }
    return spooled.filter((trade) => !stored.has(trade.tradeId));
  }

  #forgetOldest(): void {
    const times = [...this.#recent.values()].toSorted((a, b) => a - b);
    this.#floorUs = (times[Math.floor(times.length / 2)] ?? 0) + 1;
    this.#recent = new Map([...this.#recent].filter(([, at]) => at >= this.#floorUs));
  }
}

const SpooledRow = z.object({
  ref: z.string(),
  id_form: z.string(),
  id_text: z.string(),
  tx_text: z.string(),
  executed_at: z.string(),
});

const LINES_AT_ONCE = 500;

/** The body of an insert, put together piece by piece: twenty thousand lines at once outlive a collection, and are copied by it. */
function linesOf(trades: readonly TradeRecord[]): Buffer {
  const pieces: Buffer[] = [];
  for (let i = 0; i < trades.length; i += LINES_AT_ONCE) {
    const lines = trades.slice(i, i + LINES_AT_ONCE).map(tradeLine);
    pieces.push(Buffer.from(`${lines.join('\n')}\n`));
  }
  return Buffer.concat(pieces);
}

/** The trades of a spooled batch; null when it is damaged. */
function spooledTrades(body: Buffer): SpooledTrade[] | null {
  try {
    return body.toString('utf8').split('\n').filter(Boolean).map(spooledTrade);
  } catch {
    return null;
  }
}

function spooledTrade(line: string): SpooledTrade {
  const row = SpooledRow.parse(JSON.parse(line));
  const ms = Date.parse(`${row.executed_at.slice(0, 23).replace(' ', 'T')}Z`);
  return {
    line,
    ref: row.ref,
    tradeId: row.id_form === 'tx' ? `${row.tx_text}-${row.id_text}` : row.id_text,
    transactionHash: row.tx_text,
    executedAtUs: ms * 1000 + Number(row.executed_at.slice(23)),
  };
}
