import { z } from 'zod';
import { GatheredCalls } from '../core/gathered-calls.ts';
import { usdText } from '../core/decimal.ts';
import type { Clock } from '../core/time.ts';
import { marketName } from '../core/market-key.ts';
import { type MarketRecord, PLATFORMS } from '../core/model.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import type { ClickHouse, Urgency } from '../stores/clickhouse/client.ts';
import { LookbackRow, TradedMarket } from './enrich.ts';

/** Markets of one statement; as many that wait are read at once. */
const REFS_AT_ONCE = 1000;
/** Reads of fewer markets are this far apart, apart from bursts. */
const EVERY_MS = 2000;
const BURST = 5;

const named = { of_platform: z.enum(PLATFORMS) };
const StoredRow = LookbackRow.extend({ ...named, synced_at: z.string() });
const TradedRow = TradedMarket.extend(named);

/** What the store knows of a market that is about to be written. */
export interface LookedBack {
  stored: z.infer<typeof StoredRow> | undefined;
  /** Figures from stored trades, for a market whose platform does not report them. */
  traded: z.infer<typeof TradedRow> | undefined;
}

/** Reads what the store knows of markets that are about to be written: those of all callers and platforms together. */
export class LookBack {
  readonly #clickhouse: Pick<ClickHouse, 'query'>;
  readonly #reads: GatheredCalls<readonly MarketRecord[], Map<MarketRecord, LookedBack>>;

  constructor(clickhouse: Pick<ClickHouse, 'query'>, clock: Clock) {
    this.#clickhouse = clickhouse;
    this.#reads = new GatheredCalls({
      clock,
      everyMs: EVERY_MS,
      burst: BURST,
      full: REFS_AT_ONCE,
      sizeOf: (records) => records.length,
      run: async (lists) => {
        const found = await this.#readAll(lists);
        return () => found;
      },
    });
  }

  /** Each market at most once. Urgent ones are read at once, with those that wait. */
  async read(records: readonly MarketRecord[], { isUrgent }: Urgency = {}): Promise<Map<MarketRecord, LookedBack>> {
    return records.length === 0 ? new Map() : this.#reads.add(records, isUrgent);
  }

  /** Two callers may write the same market, read at different times: one statement has it once. */
  async #readAll(lists: readonly (readonly MarketRecord[])[]): Promise<Map<MarketRecord, LookedBack>> {
    const found = new Map<MarketRecord, LookedBack>();
    let part = new Map<string, MarketRecord>();
    for (const record of lists.flat()) {
      const name = marketName(record.info);
      if (part.has(name) || part.size === REFS_AT_ONCE) {
        await this.#readPart([...part.values()], found);
        part = new Map();
      }
      part.set(name, record);
    }
    await this.#readPart([...part.values()], found);
    return found;
  }

  async #readPart(records: readonly MarketRecord[], found: Map<MarketRecord, LookedBack>): Promise<void> {
    const fromTrades = records.filter((record) => record.fromTrades);
    const [stored, traded] = await Promise.all([
      records.length === 0 ? [] : this.#clickhouse.query('market_lookback', StoredRow, namesOf(records)),
      fromTrades.length === 0
        ? []
        : this.#clickhouse.query('market_traded', TradedRow, {
            ...namesOf(fromTrades),
            own_feeds: fromTrades.map((record) => record.fromTrades?.volumes === 'market'),
            in_contracts: fromTrades.map(({ info }) => MANIFESTS[info.platform].volumeBasis === 'contracts'),
            totals: fromTrades.map(({ state }) => (state.volumeTotal === null ? '' : usdText(state.volumeTotal))),
          }),
    ]);
    const [storedOf, tradedOf] = [byName(stored), byName(traded)];
    for (const record of records) {
      const name = marketName(record.info);
      found.set(record, { stored: storedOf.get(name), traded: tradedOf.get(name) });
    }
  }
}

const namesOf = (records: readonly MarketRecord[]) => ({
  platforms: records.map(({ info }) => info.platform),
  refs: records.map(({ info }) => info.ref),
  at_ms: records.map(({ fetchedAt }) => Date.parse(fetchedAt)),
});

const byName = <R extends { of_platform: MarketRecord['info']['platform']; ref: string }>(rows: readonly R[]) =>
  new Map(rows.map((row) => [marketName({ platform: row.of_platform, ref: row.ref }), row]));
