import { createHash } from 'node:crypto';
import type { ClickHouse } from './clickhouse.ts';
import type { Usd } from './decimal.ts';
import { complete, StoredMarket, TradedMarket } from './market-completion.ts';
import type { MarketInfo, MarketRecord, MarketState, Platform } from './schemas.ts';
import {
  marketRow,
  RAW_COLUMNS,
  rawRow,
  SNAPSHOT_COLUMNS,
  snapshotRow,
  STATE_COLUMNS,
  stateRow,
} from './storage-rows.ts';

/** An unchanged market leaves a snapshot in every minute that sweeps it: "still so" is told from "not looked at". */
const SNAPSHOT_MS = 55_000;
/** Its state is written again after this long, as differences to 24 h and 7 d ago move with the clock. */
const STATE_MS = 5 * 60_000;
const REMEMBERED = 300_000;
const LOOKBACK_REFS = 500;

interface Written {
  info: string;
  state: string;
  stateAtMs: number;
  snapshotAtMs: number;
  snapshot: object;
  /** Whether stored trades tell part of it. */
  fromTrades: boolean;
}

/** Stores listings: what changed, and a heartbeat of what did not. Writing the same body twice changes nothing. */
export class MarketWriter {
  readonly #clickhouse: ClickHouse;
  readonly #written = new Map<string, Written>();
  readonly #openInterest = new Map<string, Usd>();
  /** Markets of which the store has learnt something that their platform does not tell. */
  readonly #learnt = new Set<string>();
  readonly #onWritten: (platform: Platform, ref: string) => void;

  constructor(clickhouse: ClickHouse, onWritten: (platform: Platform, ref: string) => void = () => {}) {
    this.#clickhouse = clickhouse;
    this.#onWritten = onWritten;
  }

  /** Stores what is new in these records of one platform; returns how many markets were written. */
  async write(platform: Platform, records: readonly MarketRecord[]): Promise<number> {
    const newest = [...new Map(records.map((record) => [record.info.ref, record])).values()];
    const due = newest.filter((record) => this.#learnt.delete(record.info.ref) || this.#isDue(record));
    const still = newest.filter((record) => !due.includes(record) && this.#needsSnapshot(record));
    const stored = await this.#lookBack(platform, due);
    const traded = await this.#readTraded(platform, due);
    const rows = due.map((asSent) => {
      const { ref } = asSent.info;
      const known = { stored: stored.get(ref), traded: traded.get(ref), openInterest: this.#openInterest.get(ref) };
      const { record, firstSeenAt } = complete(asSent, known);
      const snapshot = snapshotRow(record.info, record.state, record.fetchedAt);
      return {
        asSent,
        record,
        firstSeenAt,
        snapshot,
        infoChanged: this.#written.get(ref)?.info !== print(asSent.info),
      };
    });
    const changed = rows.filter((row) => row.infoChanged);
    const snapshots = [...rows.map((row) => row.snapshot), ...still.flatMap((record) => this.#stillRow(record) ?? [])];
    // The state comes last: a market is listed once its state is there, and then everything else is too.
    await this.#clickhouse.insert(
      'markets',
      changed.map(({ record, firstSeenAt }) => marketRow(record.info, firstSeenAt, record.fetchedAt)),
    );
    await this.#clickhouse.insert(
      RAW_COLUMNS,
      rows.map(({ record }) => rawRow(record)),
    );
    await this.#clickhouse.insert(SNAPSHOT_COLUMNS, snapshots);
    await this.#clickhouse.insert(
      STATE_COLUMNS,
      rows.map(({ record, firstSeenAt }) => stateRow(record.info, record.state, firstSeenAt, record.fetchedAt)),
    );
    for (const { asSent, snapshot } of rows) this.#remember(asSent, snapshot);
    for (const { record } of rows) this.#onWritten(platform, record.info.ref);
    return rows.length;
  }

  /** Trades were stored that may change what is told of these markets: they are written again at their next sweep. */
  tradesCame(refs: Iterable<string> | 'every market'): void {
    for (const ref of refs === 'every market' ? this.#written.keys() : refs) {
      if (this.#written.get(ref)?.fromTrades) this.#learnt.add(ref);
    }
  }

  /** Takes a market that its platform has forgotten out of the listing; its trades stay. */
  async drop(platform: Platform, ref: string): Promise<void> {
    for (const table of ['market_state', 'markets', 'market_raw', 'market_info_rows']) {
      const where = 'platform = {platform:String} AND market_key = sipHash64({platform:String}, {ref:String})';
      await this.#clickhouse.command(`DELETE FROM ${table} WHERE ${where}`, { platform, ref });
    }
    this.#written.delete(ref);
    this.#onWritten(platform, ref);
  }

  /** Open interest that the listing does not bring; told with the market from its next sweep on. */
  setOpenInterest(ref: string, value: Usd): void {
    if (this.#openInterest.get(ref) === value) return;
    if (this.#openInterest.size >= REMEMBERED) this.#openInterest.clear();
    this.#openInterest.set(ref, value);
    this.#learnt.add(ref);
  }

  #isDue(record: MarketRecord): boolean {
    const last = this.#written.get(record.info.ref);
    if (!last || last.state !== print(record.state) || last.info !== print(record.info)) return true;
    return record.state.status !== 'settled' && Date.parse(record.fetchedAt) - last.stateAtMs >= STATE_MS;
  }

  #needsSnapshot(record: MarketRecord): boolean {
    const last = this.#written.get(record.info.ref);
    return record.state.status === 'open' && Date.parse(record.fetchedAt) - (last?.snapshotAtMs ?? 0) >= SNAPSHOT_MS;
  }

  /** Nothing changed since the last row but the time. */
  #stillRow(record: MarketRecord): object | null {
    const last = this.#written.get(record.info.ref);
    if (!last) return null;
    last.snapshotAtMs = Date.parse(record.fetchedAt);
    return { ...last.snapshot, at: record.fetchedAt };
  }

  /** What the platform said is compared with what it says next; what the store added is not. */
  #remember(asSent: MarketRecord, snapshot: object): void {
    const { ref } = asSent.info;
    if (this.#written.size >= REMEMBERED) this.#written.delete(this.#written.keys().next().value ?? '');
    const atMs = Date.parse(asSent.fetchedAt);
    this.#written.delete(ref);
    this.#written.set(ref, {
      info: print(asSent.info),
      state: print(asSent.state),
      stateAtMs: atMs,
      snapshotAtMs: atMs,
      snapshot,
      fromTrades: asSent.fromTrades !== undefined,
    });
  }

  async #lookBack(platform: Platform, records: readonly MarketRecord[]) {
    const known = new Map<string, StoredMarket>();
    for (const part of parts(records)) {
      for (const row of await this.#clickhouse.query('market_lookback', StoredMarket, { platform, ...part })) {
        known.set(row.ref, row);
      }
    }
    return known;
  }

  /** What trades say of the markets whose platform leaves something to them. */
  async #readTraded(platform: Platform, records: readonly MarketRecord[]) {
    const known = new Map<string, TradedMarket>();
    for (const part of parts(records.filter(({ fromTrades }) => fromTrades))) {
      const [record] = part.records;
      const params = {
        platform,
        refs: part.refs,
        at: part.at,
        own_feed: record?.fromTrades?.volumes === 'market',
        in_contracts: record?.info.metadata['volume_basis'] === 'contracts',
      };
      for (const row of await this.#clickhouse.query('market_traded', TradedMarket, params)) known.set(row.ref, row);
    }
    return known;
  }
}

/** Records in lists that fit into one query, with the time they were read at. */
function parts(records: readonly MarketRecord[]) {
  return Array.from({ length: Math.ceil(records.length / LOOKBACK_REFS) }, (_, n) => {
    const part = records.slice(n * LOOKBACK_REFS, (n + 1) * LOOKBACK_REFS);
    const at = part[0]?.fetchedAt.replace('T', ' ').replace('Z', '') ?? '';
    return { records: part, refs: part.map((record) => record.info.ref), at };
  });
}

const print = (value: MarketInfo | MarketState): string =>
  createHash('sha1')
    .update(JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)))
    .digest('base64');
