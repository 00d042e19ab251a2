import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { z } from 'zod';
import type { Price, Usd } from '../core/decimal.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { priceByLastTrades } from './last-trades.ts';
import type { ReadInterest } from '../platforms/contract.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { enrichFromStore, LookbackRow, TradedMarket } from './enrich.ts';
import { EventWriter } from './event-writer.ts';
import { RewriteMarks } from './rewrite-marks.ts';
import { StatedMarkets } from './stated-markets.ts';
import type { MarketInfo, MarketRecord, MarketState, Platform, SeriesRecord } from '../core/model.ts';
import {
  marketRow,
  RAW_COLUMNS,
  rawRow,
  SNAPSHOT_COLUMNS,
  snapshotRow,
  STATE_COLUMNS,
  stateRow,
} from '../stores/clickhouse/insert-rows.ts';

/** An unchanged market still gets a snapshot per minute, which distinguishes "unchanged" from "not read". */
const SNAPSHOT_MS = 55_000;
/** Its state is written again after this long, because the changes over 24 h and 7 d move with the clock. */
const STATE_MS = 5 * 60_000;
const REMEMBERED = 300_000;
const LOOKBACK_REFS = 500;

const LastListing = LookbackRow.extend({ synced_at: z.string() });
type LastListing = z.infer<typeof LastListing>;

interface Written {
  info: string;
  state: string;
  status: string;
  stateAtMs: number;
  snapshotAtMs: number;
  snapshot: object;
  /** Whether some of its figures come from stored trades. */
  fromTrades: boolean;
}

/** Stores listings: changes, and a heartbeat for unchanged markets. Writing the same body twice changes nothing. */
export class MarketWriter {
  readonly #clickhouse: ClickHouse;
  readonly #events: EventWriter;
  // By platform and reference: two platforms may use one slug.
  readonly #written = new Map<string, Written>();
  readonly #openInterest = new Map<string, ReadInterest>();
  readonly #liquidity = new Map<string, Usd>();
  readonly #lastTrades = new Map<string, Price>();
  /** Markets with unwritten facts from sources other than their listing; one that is not remembered is written anyway. */
  readonly #needsRewrite = new RewriteMarks(REMEMBERED);
  /** Sequential: of two concurrent writes, the one that saw fewer trades could come last. */
  readonly #pricing = new PQueue({ concurrency: 1 });
  readonly #onChanged: (platform: Platform, refs: string[]) => void;
  /** What sockets stated of markets; written in place of what older rows say. */
  readonly stated = new StatedMarkets();

  /** `onChanged` is called with markets whose stored facts or status changed, once these are stored. */
  constructor(clickhouse: ClickHouse, onChanged: (platform: Platform, refs: string[]) => void = () => {}) {
    this.#clickhouse = clickhouse;
    this.#events = new EventWriter(clickhouse);
    this.#onChanged = onChanged;
  }

  /** Stores what is new in these records of one platform; returns how many markets were written. */
  async write(platform: Platform, records: readonly MarketRecord[]): Promise<number> {
    await this.#events.write(platform, records);
    const newest = [...new Map(records.map((record) => [record.info.ref, this.stated.apply(record)])).values()];
    const marks = this.#needsRewrite.of(newest.map(({ info }) => keyOf(info)));
    const due = newest.filter((record) => marks.has(keyOf(record.info)) || this.#isDue(record));
    const still = newest.filter((record) => !due.includes(record) && this.#needsSnapshot(record));
    const stored = await this.#lookBack(platform, due);
    const traded = await this.#readTraded(platform, due);
    const rows = due.map((asSent) => {
      const { ref } = asSent.info;
      const known = {
        stored: stored.get(ref),
        traded: traded.get(ref),
        openInterest: this.#openInterest.get(keyOf(asSent.info)),
        liquidity: this.#liquidity.get(keyOf(asSent.info)),
        bookPrice: this.#lastTrades.get(keyOf(asSent.info)),
      };
      const { record, firstSeenAt } = enrichFromStore(asSent, known);
      const snapshot = snapshotRow(record.info, record.state, record.fetchedAt);
      return {
        asSent,
        record,
        firstSeenAt,
        version: versionOf(record.fetchedAt, known.stored?.synced_at),
        snapshot,
        infoChanged: this.#written.get(keyOf(asSent.info))?.info !== fingerprint(asSent.info),
      };
    });
    const changed = rows.filter((row) => row.infoChanged);
    const moved = rows.filter(
      ({ record: { info, state }, infoChanged }) =>
        infoChanged || this.#written.get(keyOf(info))?.status !== state.status,
    );
    const snapshots = [...rows.map((row) => row.snapshot), ...still.flatMap((record) => this.#stillRow(record) ?? [])];
    // The state comes last: a market counts as listed once it has a state, so everything else must be there.
    await this.#clickhouse.insert(
      'markets',
      changed.map(({ record, firstSeenAt, version }) => marketRow(record.info, firstSeenAt, version)),
    );
    await this.#clickhouse.insert(
      RAW_COLUMNS,
      rows.map(({ record, version }) => rawRow({ ...record, fetchedAt: version })),
    );
    await this.#clickhouse.insert(SNAPSHOT_COLUMNS, snapshots);
    await this.#clickhouse.insert(
      STATE_COLUMNS,
      rows.map(({ record, firstSeenAt, version }) => stateRow(record.info, record.state, firstSeenAt, version)),
    );
    for (const { asSent, record, snapshot } of rows) {
      this.#remember(asSent, record.state.status, snapshot);
      // A mark set meanwhile is for facts that these rows lack.
      const key = keyOf(asSent.info);
      this.#needsRewrite.remove(key, marks.get(key));
    }
    // Trades stored since the bodies were received: whichever comes last, states or trades, sees the other.
    const refs = rows.map(({ record }) => record.info.ref);
    await this.#pricing.add(() => priceByLastTrades(this.#clickhouse, platform, refs));
    if (moved.length > 0)
      this.#onChanged(
        platform,
        moved.map(({ record }) => record.info.ref),
      );
    return rows.length;
  }

  /** Whether this process has written the market before. */
  hasWritten(info: Pick<MarketInfo, 'platform' | 'ref'>): boolean {
    return this.#written.has(keyOf(info));
  }

  /** Stores series that were listed by themselves. */
  async writeSeries(platform: Platform, series: readonly SeriesRecord[]): Promise<void> {
    await this.#events.write(platform, [], series);
  }

  /** Prices these markets by their newest trade now; other figures follow with their next sweep. */
  async onTradesStored(platform: Platform, refs: Iterable<string>): Promise<void> {
    const all = [...refs];
    for (const ref of all) {
      const key = keyOf({ platform, ref });
      if (this.#written.has(key)) this.#needsRewrite.add(key);
    }
    await this.#pricing.add(() => priceByLastTrades(this.#clickhouse, platform, all));
  }

  /** Trades of any market may have been stored: volumes from trades are written with the next sweep. */
  markAllStale(platform: Platform): void {
    for (const [key, { fromTrades }] of this.#written) {
      if (fromTrades && key.startsWith(`${platform}:`)) this.#needsRewrite.add(key);
    }
  }

  /** Removes a market dropped by its platform from the listing; its trades stay. */
  async drop(platform: Platform, ref: string): Promise<void> {
    for (const table of ['market_state', 'market_state_texts', 'markets', 'market_info_texts', 'market_raw']) {
      const where = 'platform = {platform:String} AND market_key = sipHash64({platform:String}, {ref:String})';
      await this.#clickhouse.command(`DELETE FROM ${table} WHERE ${where}`, { platform, ref });
    }
    const key = keyOf({ platform, ref });
    for (const facts of [this.#written, this.#needsRewrite, this.#openInterest, this.#liquidity, this.#lastTrades]) {
      facts.delete(key);
    }
    this.#onChanged(platform, [ref]);
  }

  /** Open interest that the listing lacks; written with the market from its next sweep on. */
  setOpenInterest(platform: Platform, ref: string, read: ReadInterest): void {
    const key = keyOf({ platform, ref });
    if (this.#openInterest.size >= REMEMBERED) this.#openInterest.clear();
    this.#openInterest.set(key, read);
    this.#needsRewrite.add(key);
  }

  /** Book liquidity that the listing lacks; written with the market at its next sweep. */
  setLiquidity(platform: Platform, ref: string, value: Usd): void {
    const key = keyOf({ platform, ref });
    if (this.#liquidity.get(key) === value) return;
    if (this.#liquidity.size >= REMEMBERED) this.#liquidity.clear();
    this.#liquidity.set(key, value);
    this.#needsRewrite.add(key);
  }

  /** The last trade according to a book; prices the market, from its next sweep on, while none of its trades is stored. */
  setLastTrade(platform: Platform, ref: string, price: Price | null): void {
    const key = keyOf({ platform, ref });
    if (price === null || this.#lastTrades.get(key) === price) return;
    if (this.#lastTrades.size >= REMEMBERED) this.#lastTrades.clear();
    this.#lastTrades.set(key, price);
    this.#needsRewrite.add(key);
  }

  #isDue(record: MarketRecord): boolean {
    const last = this.#written.get(keyOf(record.info));
    if (!last || last.state !== fingerprint(record.state) || last.info !== fingerprint(record.info)) return true;
    return record.state.status !== 'settled' && Date.parse(record.fetchedAt) - last.stateAtMs >= STATE_MS;
  }

  #needsSnapshot(record: MarketRecord): boolean {
    const last = this.#written.get(keyOf(record.info));
    return record.state.status === 'open' && Date.parse(record.fetchedAt) - (last?.snapshotAtMs ?? 0) >= SNAPSHOT_MS;
  }

  /** The row of an unchanged market: only the time is new. */
  #stillRow(record: MarketRecord): object | null {
    const last = this.#written.get(keyOf(record.info));
    if (!last) return null;
    last.snapshotAtMs = Date.parse(record.fetchedAt);
    return { ...last.snapshot, at: record.fetchedAt };
  }

  /** Keeps the record as the platform sent it, for comparison with the next one; what the store added is not compared. */
  #remember(asSent: MarketRecord, status: string, snapshot: object): void {
    const key = keyOf(asSent.info);
    if (this.#written.size >= REMEMBERED) {
      const evicted = this.#written.keys().next().value ?? '';
      this.#written.delete(evicted);
      this.#needsRewrite.delete(evicted);
    }
    const atMs = Date.parse(asSent.fetchedAt);
    this.#written.delete(key);
    this.#written.set(key, {
      info: fingerprint(asSent.info),
      state: fingerprint(asSent.state),
      status,
      stateAtMs: atMs,
      snapshotAtMs: atMs,
      snapshot,
      fromTrades: asSent.fromTrades !== undefined,
    });
  }

  async #lookBack(platform: Platform, records: readonly MarketRecord[]) {
    const known = new Map<string, LastListing>();
    for (const part of parts(records)) {
      for (const row of await this.#clickhouse.query('market_lookback', LastListing, { platform, ...part })) {
        known.set(row.ref, row);
      }
    }
    return known;
  }

  /** Figures from stored trades, for markets whose platform does not report them. */
  async #readTraded(platform: Platform, records: readonly MarketRecord[]) {
    const known = new Map<string, TradedMarket>();
    for (const part of parts(records.filter(({ fromTrades }) => fromTrades))) {
      const [record] = part.records;
      const params = {
        platform,
        refs: part.refs,
        at: part.at,
        own_feed: record?.fromTrades?.volumes === 'market',
        in_contracts: MANIFESTS[platform].volumeBasis === 'contracts',
      };
      for (const row of await this.#clickhouse.query('market_traded', TradedMarket, params)) known.set(row.ref, row);
    }
    return known;
  }
}

/** Splits records into lists that fit into one query, with the time they were read. */
function parts(records: readonly MarketRecord[]) {
  return Array.from({ length: Math.ceil(records.length / LOOKBACK_REFS) }, (_, n) => {
    const part = records.slice(n * LOOKBACK_REFS, (n + 1) * LOOKBACK_REFS);
    const at = part[0]?.fetchedAt.replace('T', ' ').replace('Z', '') ?? '';
    return { records: part, refs: part.map((record) => record.info.ref), at };
  });
}

/**
 * Of two rows of a market the store keeps the one with the later time. One that is ahead of the clock was written before the clock was
 * set back: the new row goes right behind it.
 */
function versionOf(fetchedAt: string, storedAt: string | undefined): string {
  const storedMs = storedAt === undefined ? 0 : Date.parse(storedAt);
  const isAhead = storedMs > Date.now() && storedMs > Date.parse(fetchedAt);
  return isAhead ? new Date(storedMs + 1).toISOString() : fetchedAt;
}

const keyOf = ({ platform, ref }: { platform: Platform; ref: string }): string => `${platform}:${ref}`;

const fingerprint = (value: MarketInfo | MarketState): string =>
  createHash('sha1')
    .update(JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)))
    .digest('base64');
