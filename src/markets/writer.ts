import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Clock, HOUR_MS } from '../core/time.ts';
import type { Price } from '../core/decimal.ts';
import type { RestingFigures } from '../platforms/book-sides.ts';
import type { ClickHouse, Urgency } from '../stores/clickhouse/client.ts';
import { LastTradePrices } from './last-trades.ts';
import { marketName } from '../core/market-key.ts';
import type { Projector } from '../present/projector.ts';
import type { ReadInterest } from '../platforms/contract.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { enrichFromStore } from './enrich.ts';
import { EventWriter } from './event-writer.ts';
import { LookBack } from './look-back.ts';
import { levelFingerprint, Fingerprints } from './fingerprints.ts';
import { KnownMarkets, OTHERS_KEPT } from './known-markets.ts';
import { StatedMarkets } from './stated-markets.ts';
import type { MarketInfo, MarketRecord, Platform, SeriesRecord } from '../core/model.ts';
import {
  isCombo,
  marketRow,
  microsecondText,
  RAW_COLUMNS,
  rawRow,
  SNAPSHOT_COLUMNS,
  snapshotRow,
  STATE_COLUMNS,
  stateRow,
} from '../stores/clickhouse/insert-rows.ts';

/**
 * An unchanged market is written again after this long: its changes over 24 h and 7 d move with the clock, and a snapshot distinguishes
 * "unchanged" from "not read". The figures of a market without trades do not move.
 */
const AGAIN_MS = 5 * 60_000;
const UNTRADED_AGAIN_MS = HOUR_MS;
/** How often the platform's own object is written while facts and status of the market stay: its prices change all the time. */
const RAW_MS = HOUR_MS;
/** Markets recalled at a start: those that are not settled first. */
const RECALLED = 2 * OTHERS_KEPT;
/** A row of sql/queries/ended_traded.sql. */
const RefRow = z.object({ ref: z.string() });
/** Tables with the rows of a market that is listed. */
const TABLES = ['market_state', 'markets', 'market_raw', 'market_questions', 'market_facts'];

/** Who hears of markets once they are stored. */
interface Listeners {
  /** Copies them to PostgreSQL. */
  present?: Pick<Projector, 'changed' | 'drop'>;
  /** Called with markets whose stored facts, status or result changed. */
  onChanged?: (platform: Platform, refs: string[]) => void;
}

/** Stores listings: changes, and a heartbeat for unchanged markets. Writing the same body twice changes nothing. */
export class MarketWriter {
  readonly #clickhouse: ClickHouse;
  readonly #clock: Clock;
  readonly #events: EventWriter;
  readonly #lookBack: LookBack;
  /** By platform and reference: two platforms may use one slug. */
  readonly #known = new KnownMarkets();
  readonly #prices: LastTradePrices;
  readonly #fingerprints = new Fingerprints();
  readonly #heard: Listeners;
  /** What sockets stated of markets; written in place of what older rows say. */
  readonly stated: StatedMarkets;

  constructor(clickhouse: ClickHouse, clock: Clock, heard: Listeners = {}) {
    this.#clickhouse = clickhouse;
    this.#clock = clock;
    this.stated = new StatedMarkets(clock.now);
    this.#events = new EventWriter(clickhouse, clock);
    this.#lookBack = new LookBack(clickhouse, clock);
    this.#prices = new LastTradePrices(clickhouse, clock);
    this.#heard = heard;
  }

  /** Reads what was last written: what a platform still sends like this is not written again. Call it when a sweep begins. */
  async recall(platform: Platform): Promise<void> {
    const rows = await this.#clickhouse.rowBinary('sent_markets', { platform, limit: RECALLED });
    while (!rows.isAtEnd) {
      const name = marketName({ platform, ref: rows.text() });
      const sent = { info: BigInt(rows.text()), state: BigInt(rows.text()), status: rows.text() };
      const [stateAtMs, hasTraded, isCombo] = [rows.number(), rows.number() === 1, rows.number() === 1];
      const { written: last, writtenFact = 0 } = this.#known.get(name) ?? {};
      if (last && last.stateAtMs >= stateAtMs) continue;
      const fromTrades = MANIFESTS[platform].lastTradeFrom === 'trades';
      const kept = { ...sent, isCombo, level: null, stateAtMs, rawAtMs: 0, hasTraded, fromTrades };
      this.#known.wrote(name, kept, writtenFact);
    }
  }

  /** Those of the records that differ from what was written, or are due again: the others need no statement. */
  unwritten(records: readonly MarketRecord[]): MarketRecord[] {
    const withParents = this.#events.unwritten(records);
    return records.filter((record) => withParents.has(record) || this.#isDue(this.stated.apply(record)));
  }

  /** Stores what is new in records of one platform; returns how many markets were written. Urgent ones wait for no other rows. */
  async write(platform: Platform, records: readonly MarketRecord[], urgency: Urgency = {}): Promise<number> {
    const parents = await this.#events.write(platform, records, [], urgency);
    const newest = [...new Map(records.map((record) => [record.info.ref, this.stated.apply(record)])).values()];
    // Noted before the store is read: a fact that arrives during the write makes the market due again.
    for (const record of newest) if (!this.#knownOf(record)) this.#known.learn(marketName(record.info));
    const facts = new Map(newest.map((record) => [record, this.#knownOf(record)?.fact ?? 0]));
    const due = newest.filter((record) => this.#isDue(record));
    const stored = await this.#lookBack.read(due, urgency);
    const rows = due.map((asSent) => {
      const { written, openInterest, resting, lastTrade: bookPrice } = this.#knownOf(asSent) ?? {};
      const known = { stored: undefined, traded: undefined, ...stored.get(asSent), openInterest, resting, bookPrice };
      const { record, firstSeenAt } = enrichFromStore(asSent, known);
      const sent = this.#fingerprints.of(asSent);
      const infoChanged = written?.info !== sent.info;
      const isRawOld = Date.parse(record.fetchedAt) - (written?.rawAtMs ?? 0) >= RAW_MS;
      return {
        asSent,
        sent,
        record,
        firstSeenAt,
        version: versionOf(record.fetchedAt, known.stored?.synced_at, this.#clock.now()),
        infoChanged,
        level: levelFingerprint(record.state),
        hasRaw: infoChanged || isRawOld || written?.status !== record.state.status,
      };
    });
    const changed = rows.filter((row) => row.infoChanged);
    const moved = rows.filter(
      ({ record, infoChanged, level }) => infoChanged || this.#knownOf(record)?.written?.level !== level,
    );
    const insert = (table: string, written: object[]) => this.#clickhouse.insert(table, written, urgency);
    await Promise.all([
      insert(
        'markets',
        changed.map(({ record, firstSeenAt, version }) => marketRow(record.info, firstSeenAt, version)),
      ),
      insert(
        RAW_COLUMNS,
        rows.flatMap(({ record, version, hasRaw }) => (hasRaw ? rawRow({ ...record, fetchedAt: version }) : [])),
      ),
      insert(
        SNAPSHOT_COLUMNS,
        rows.map(({ record }) => snapshotRow(record.info, record.state, record.fetchedAt)),
      ),
    ]);
    // The state comes last: a market counts as listed once it has a state, so everything else must be there.
    await insert(
      STATE_COLUMNS,
      rows.map(({ sent, record, firstSeenAt, version }) => stateRow(record, sent, firstSeenAt, version)),
    );
    for (const { asSent, sent, record, level, hasRaw } of rows) {
      const atMs = Date.parse(asSent.fetchedAt);
      const written = {
        // The record as it was sent is compared with the next one, not what the store added.
        ...sent,
        status: record.state.status,
        isCombo: isCombo(record.info),
        level,
        stateAtMs: atMs,
        rawAtMs: hasRaw ? atMs : (this.#knownOf(asSent)?.written?.rawAtMs ?? 0),
        hasTraded: (record.state.volumeTotal ?? 0n) !== 0n,
        fromTrades: asSent.fromTrades !== undefined,
      };
      this.#known.wrote(marketName(asSent.info), written, facts.get(asSent) ?? 0);
    }
    // Trades may have been stored since the bodies were received. The later of the two writes, of states or of trades, sees the other.
    const refs = rows.map(({ record }) => record.info.ref);
    await this.#prices.price(platform, refs, urgency);
    this.#heard.present?.changed(platform, refs, parents);
    if (moved.length > 0)
      this.#heard.onChanged?.(
        platform,
        moved.map(({ record }) => record.info.ref),
      );
    return rows.length;
  }

  /** Whether this process has written the market before. */
  hasWritten(info: Pick<MarketInfo, 'platform' | 'ref'>): boolean {
    return this.#known.get(marketName(info))?.written != null;
  }

  /** Unsettled markets of a platform that this process knows, without combinations. `writtenMs`: last written, Unix ms. */
  *unsettled(platform: Platform): Generator<{ ref: string; writtenMs: number }> {
    const start = marketName({ platform, ref: '' });
    for (const [name, { written }] of this.#known.unsettled()) {
      if (written === null || written.isCombo || !name.startsWith(start)) continue;
      yield { ref: name.slice(start.length), writtenMs: written.stateAtMs };
    }
  }

  /** Whether `unsettled` has this market. */
  isUnsettled(platform: Platform, ref: string): boolean {
    const { written } = this.#known.get(marketName({ platform, ref })) ?? {};
    return written != null && !written.isCombo && written.status !== 'settled';
  }

  /** Call it with markets that another process has settled or dropped. `recall` corrects it where the store says otherwise. */
  settled(platform: Platform, refs: Iterable<string>): void {
    for (const ref of refs) {
      const name = marketName({ platform, ref });
      const { written, writtenFact = 0 } = this.#known.get(name) ?? {};
      if (written) this.#known.wrote(name, { ...written, status: 'settled', stateAtMs: 0 }, writtenFact);
    }
  }

  /** Stores series that were listed by themselves. */
  async writeSeries(platform: Platform, series: readonly SeriesRecord[], urgency: Urgency = {}): Promise<void> {
    const stored = await this.#events.write(platform, [], series, urgency);
    this.#heard.present?.changed(platform, [], stored);
  }

  /** Prices these markets by their newest trade now; other figures follow with their next sweep. */
  async onTradesStored(platform: Platform, refs: Iterable<string>): Promise<void> {
    const all = [...refs];
    for (const name of all.map((ref) => marketName({ platform, ref }))) {
      if (this.#known.get(name)) this.#known.learn(name);
    }
    await this.#prices.price(platform, all);
    this.#heard.present?.changed(platform, all);
  }

  /**
   * Trades of any market since then (Unix µs) may have been stored, or are known to be complete: volumes from trades are written with the
   * next sweep. Markets that ended are in no sweep: they are copied again.
   */
  async markAllStale(platform: Platform, sinceUs: number): Promise<void> {
    for (const [name, { written }] of this.#known.entries()) {
      if (written?.fromTrades !== false && name.startsWith(`${platform}:`)) this.#known.learn(name);
    }
    const since = microsecondText(sinceUs);
    const ended = await this.#clickhouse.query('ended_traded', RefRow, { platform, since });
    const refs = ended.map(({ ref }) => ref);
    this.#heard.present?.changed(platform, refs);
  }

  /** Removes a market dropped by its platform from the listing; its trades stay. */
  async drop(platform: Platform, ref: string): Promise<void> {
    await this.#heard.present?.drop(platform, ref);
    for (const table of TABLES) {
      const where = 'platform = {platform:String} AND market_key = sipHash64({platform:String}, {ref:String})';
      await this.#clickhouse.command(`DELETE FROM ${table} WHERE ${where}`, { platform, ref });
    }
    this.#known.delete(marketName({ platform, ref }));
    this.#heard.present?.changed(platform, [ref]);
    this.#heard.onChanged?.(platform, [ref]);
  }

  /** Open interest that the listing lacks, null if the platform states none; written with the market from its next sweep on. */
  setOpenInterest(platform: Platform, ref: string, read: ReadInterest | null): void {
    const name = marketName({ platform, ref });
    if (read !== null || this.#known.get(name)?.openInterest !== null) this.#known.learn(name, { openInterest: read });
  }

  /** What rests in a book, which the listing lacks, or null if it is not known any more; written with the market at its next sweep. */
  setResting(platform: Platform, ref: string, resting: RestingFigures | null): void {
    const name = marketName({ platform, ref });
    if (!isDeepStrictEqual(this.#known.get(name)?.resting ?? null, resting)) this.#known.learn(name, { resting });
  }

  /** The last trade according to a book; prices the market, from its next sweep on, while none of its trades is stored. */
  setLastTrade(platform: Platform, ref: string, price: Price | null): void {
    const name = marketName({ platform, ref });
    if (price !== null && this.#known.get(name)?.lastTrade !== price) this.#known.learn(name, { lastTrade: price });
  }

  #knownOf({ info }: MarketRecord) {
    return this.#known.get(marketName(info));
  }

  #isDue(record: MarketRecord): boolean {
    const known = this.#knownOf(record);
    const last = known?.written;
    if (!last || known.fact > known.writtenFact) return true;
    const sent = this.#fingerprints.of(record);
    if (last.state !== sent.state || last.info !== sent.info) return true;
    const againMs = last.hasTraded ? AGAIN_MS : UNTRADED_AGAIN_MS;
    return record.state.status !== 'settled' && Date.parse(record.fetchedAt) - last.stateAtMs >= againMs;
  }
}

/**
 * The version of a market's new row: when its body was received. The store keeps the row with the latest version. If the clock was set back
 * after the stored row was written, the new row gets the next millisecond after it.
 */
function versionOf(fetchedAt: string, storedAt: string | undefined, nowMs: number): string {
  const storedMs = storedAt === undefined ? 0 : Date.parse(storedAt);
  const isAhead = storedMs > nowMs && storedMs > Date.parse(fetchedAt);
  return isAhead ? new Date(storedMs + 1).toISOString() : fetchedAt;
}
