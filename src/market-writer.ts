import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parsePrice, parseUsd, type Usd } from './decimal.ts';
import type { ClickHouse } from './clickhouse.ts';
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

const decimalOrNull = z.string().nullable();
const Lookback = z.object({
  ref: z.string(),
  first_seen_at: z.string(),
  event_id: z.string(),
  event_name: z.string(),
  series_id: z.string(),
  category: z.string(),
  category_slug: z.string(),
  subcategory: z.string().nullable(),
  tags: z.array(z.string()),
  image_url: z.string(),
  outcome_ids: z.array(z.string()),
  metadata: z.string(),
  day_total: decimalOrNull,
  week_total: decimalOrNull,
  day_price: decimalOrNull,
  week_price: decimalOrNull,
});
type Known = z.infer<typeof Lookback>;

interface Written {
  info: string;
  state: string;
  stateAtMs: number;
  snapshotAtMs: number;
  volume24h: Usd | null;
}

/** Stores listings: what changed, and a heartbeat of what did not. Writing the same body twice changes nothing. */
export class MarketWriter {
  readonly #clickhouse: ClickHouse;
  readonly #written = new Map<string, Written>();
  readonly #openInterest = new Map<string, Usd>();
  readonly #onWritten: (platform: Platform, ref: string) => void;

  constructor(clickhouse: ClickHouse, onWritten: (platform: Platform, ref: string) => void = () => {}) {
    this.#clickhouse = clickhouse;
    this.#onWritten = onWritten;
  }

  /** Stores what is new in these records of one platform; returns how many markets were written. */
  async write(platform: Platform, records: readonly MarketRecord[]): Promise<number> {
    const newest = [...new Map(records.map((record) => [record.info.ref, record])).values()];
    const due = newest.filter((record) => this.#isDue(record));
    const still = newest.filter((record) => !due.includes(record) && this.#needsSnapshot(record));
    const known = await this.#lookBack(platform, due);
    const rows = due.map((record) => ({
      ...complete(record, known.get(record.info.ref), this.#openInterest.get(record.info.ref) ?? null),
      infoChanged: this.#written.get(record.info.ref)?.info !== print(record.info),
    }));
    const changed = rows.filter((row) => row.infoChanged);
    const snapshots = [
      ...rows.map(({ record }) => snapshotRow(record.info, record.state, record.fetchedAt)),
      ...still.map((record) => this.#stillRow(record)),
    ];
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
    rows.forEach(({ record }, i) => this.#remember(due[i] ?? record, record.state.volume24h));
    for (const { record } of rows) this.#onWritten(platform, record.info.ref);
    return rows.length;
  }

  /** Open interest that the listing does not bring; told with the market from its next sweep on. */
  setOpenInterest(ref: string, value: Usd): void {
    if (this.#openInterest.get(ref) === value) return;
    if (this.#openInterest.size >= REMEMBERED) this.#openInterest.clear();
    this.#openInterest.set(ref, value);
    this.#written.delete(ref);
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

  #stillRow(record: MarketRecord): object {
    const last = this.#written.get(record.info.ref);
    if (last) last.snapshotAtMs = Date.parse(record.fetchedAt);
    const volume24h = last?.volume24h ?? record.state.volume24h;
    return snapshotRow(record.info, { ...record.state, volume24h }, record.fetchedAt);
  }

  /** What the platform said is compared with what it says next; what the store added is not. */
  #remember(asSent: MarketRecord, volume24h: Usd | null): void {
    const { ref } = asSent.info;
    if (this.#written.size >= REMEMBERED) this.#written.delete(this.#written.keys().next().value ?? '');
    const atMs = Date.parse(asSent.fetchedAt);
    this.#written.delete(ref);
    this.#written.set(ref, {
      info: print(asSent.info),
      state: print(asSent.state),
      stateAtMs: atMs,
      snapshotAtMs: atMs,
      volume24h,
    });
  }

  async #lookBack(platform: Platform, records: readonly MarketRecord[]): Promise<Map<string, Known>> {
    const refs = records.map((record) => record.info.ref);
    const at = records[0]?.fetchedAt ?? new Date().toISOString();
    const known = new Map<string, Known>();
    for (let i = 0; i < refs.length; i += LOOKBACK_REFS) {
      const part = { platform, refs: refs.slice(i, i + LOOKBACK_REFS), at: at.replace('T', ' ').replace('Z', '') };
      for (const row of await this.#clickhouse.query('market_lookback', Lookback, part)) known.set(row.ref, row);
    }
    return known;
  }
}

const print = (value: MarketInfo | MarketState): string =>
  createHash('sha1')
    .update(JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)))
    .digest('base64');

/** Fills what only the store knows: first sight, fields a shorter body lacks, and differences to earlier snapshots. */
function complete(
  record: MarketRecord,
  known: Known | undefined,
  openInterest: Usd | null,
): { record: MarketRecord; firstSeenAt: string } {
  const { info } = record;
  const state = { ...record.state, openInterest: record.state.openInterest ?? openInterest };
  if (!known) return { record: { ...record, state }, firstSeenAt: record.fetchedAt };
  const price = state.quotes[0]?.price ?? null;
  const sinceThen = (then: string | null): bigint | null =>
    price === null || then === null ? null : price - parsePrice(then);
  const soldSince = (then: string | null): bigint | null => {
    if (state.volumeTotal === null || then === null) return null;
    const sold = state.volumeTotal - parseUsd(then);
    return sold < 0n ? null : sold;
  };
  const hasTags = info.tags.length > 0;
  return {
    firstSeenAt: known.first_seen_at,
    record: {
      ...record,
      info: {
        ...info,
        // Ids never change after they were first stored, even if the platform edits a name.
        outcomes: info.outcomes.map((outcome, i) =>
          known.outcome_ids.length === info.outcomes.length
            ? { ...outcome, id: known.outcome_ids[i] ?? outcome.id }
            : outcome,
        ),
        eventId: info.eventId || known.event_id,
        eventName: info.eventName || known.event_name,
        seriesId: info.seriesId || known.series_id,
        category: info.category || known.category,
        categorySlug: info.category ? info.categorySlug : known.category_slug,
        subcategory: info.subcategory ?? known.subcategory,
        tags: hasTags ? info.tags : known.tags,
        imageUrl: info.imageUrl || known.image_url,
        metadata: { ...(JSON.parse(known.metadata) as object), ...info.metadata },
      },
      state: {
        ...state,
        volume24h: state.volume24h ?? soldSince(known.day_total),
        volume7d: state.volume7d ?? soldSince(known.week_total),
        priceChange24h: state.priceChange24h ?? (state.status === 'open' ? sinceThen(known.day_price) : null),
        priceChange7d: state.priceChange7d ?? (state.status === 'open' ? sinceThen(known.week_price) : null),
      },
    },
  };
}
