import { isDeepStrictEqual } from 'node:util';
import { type Clock, HOUR_MS } from '../core/time.ts';
import type { Price } from '../core/decimal.ts';
import type { RestingFigures } from '../platforms/book-sides.ts';
import type { ClickHouse, Urgency } from '../stores/clickhouse/client.ts';
import { LastTradePrices } from './last-trades.ts';
import { marketName } from '../core/market-key.ts';
import type { Projector } from '../present/projector.ts';
import type { ReadInterest } from '../platforms/contract.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { EventWriter } from './event-writer.ts';
import { LookBack } from './look-back.ts';
import { Fingerprints } from './fingerprints.ts';
import { KnownMarkets, OTHERS_KEPT } from './known-markets.ts';
import { StatedMarkets } from './stated-markets.ts';
import type { MarketInfo, MarketRecord, Platform, SeriesRecord } from '../core/model.ts';
import { isCombo, microsecondText } from '../stores/clickhouse/insert-rows.ts';
import { refsOf } from '../stores/clickhouse/refs.ts';
import { insertMarkets, type PreparedMarket, prepareMarket } from './prepared-market.ts';

/**
 * An unchanged market is written again after this long: its changes over 24 h and 7 d move with the clock, and a snapshot distinguishes
 * "unchanged" from "not read". The figures of a market without trades do not move.
 */
const AGAIN_MS = 5 * 60_000;
const UNTRADED_AGAIN_MS = HOUR_MS;
/** Markets recalled at a start: those that are not settled first. */
const RECALLED = 2 * OTHERS_KEPT;
/** Tables with the rows of a market that is listed. */
const TABLES = ['market_state', 'markets', 'market_raw', 'market_questions', 'market_facts'];

/** Called after markets are stored. */
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
    const rows = due.map((record) => {
      const sent = this.#fingerprints.of(record);
      const known = { ...this.#knownOf(record), statedResolution: this.stated.resolvedAt(record) };
      return prepareMarket(record, sent, known, stored.get(record), this.#clock.now());
    });
    await insertMarkets(this.#clickhouse, rows, urgency);
    for (const row of rows) this.#remember(row, facts.get(row.asSent) ?? 0);
    // Trades may have been stored since the bodies were received. The later of the two writes, of states or of trades, sees the other.
    const refs = refsOfRows(rows);
    await this.#prices.price(platform, refs, urgency);
    this.#heard.present?.changed(platform, refs, parents);
    const moved = refsOfRows(rows.filter(({ hasMoved }) => hasMoved));
    if (moved.length > 0) this.#heard.onChanged?.(platform, moved);
    return rows.length;
  }

  /** Remembers what was written, with every fact up to the number `fact`. The record as it was sent is compared with the next one. */
  #remember({ asSent, sent, record, level, hasRaw }: PreparedMarket, fact: number): void {
    const atMs = Date.parse(asSent.fetchedAt);
    const written = {
      ...sent,
      status: record.state.status,
      isCombo: isCombo(record.info),
      level,
      stateAtMs: atMs,
      rawAtMs: hasRaw ? atMs : (this.#knownOf(asSent)?.written?.rawAtMs ?? 0),
      hasTraded: (record.state.volumeTotal ?? 0n) !== 0n,
      fromTrades: asSent.fromTrades !== undefined,
    };
    this.#known.wrote(marketName(asSent.info), written, fact);
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
    this.#heard.present?.changed(platform, await refsOf(this.#clickhouse, 'ended_traded', { platform, since }));
  }

  /** Removes a market dropped by its platform from the listing; its trades stay. */
  async drop(platform: Platform, ref: string): Promise<void> {
    const { present } = this.#heard;
    const removeStored = () => this.#remove(platform, ref);
    await (present ? present.drop(platform, ref, removeStored) : removeStored());
    this.#known.delete(marketName({ platform, ref }));
    // Another process may have copied it while it was removed.
    present?.changed(platform, [ref]);
    this.#heard.onChanged?.(platform, [ref]);
  }

  async #remove(platform: Platform, ref: string): Promise<void> {
    const where = 'platform = {platform:String} AND market_key = sipHash64({platform:String}, {ref:String})';
    for (const table of TABLES)
      await this.#clickhouse.command(`DELETE FROM ${table} WHERE ${where}`, { platform, ref });
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

const refsOfRows = (rows: readonly PreparedMarket[]): string[] => rows.map(({ record }) => record.info.ref);
