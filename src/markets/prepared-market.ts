import type { MarketRecord } from '../core/model.ts';
import type { ClickHouse, Urgency } from '../stores/clickhouse/client.ts';
import {
  marketRow,
  RAW_COLUMNS,
  rawRow,
  MARKET_SNAPSHOT_COLUMNS,
  marketSnapshotRow,
  STATE_COLUMNS,
  stateRow,
} from '../stores/clickhouse/insert-rows.ts';
import { HOUR_MS } from '../core/time.ts';
import { enrichFromStore } from './enrich.ts';
import { levelFingerprint, type RecordFingerprints } from './fingerprints.ts';
import type { KnownMarket } from './known-markets.ts';
import type { LookedBack } from './look-back.ts';
import { versionOf } from './row-version.ts';

/** How often the platform's own object is written while facts and status of the market stay: its prices change all the time. */
const RAW_MS = HOUR_MS;

/** A record that is about to be written. */
export interface PreparedMarket {
  asSent: MarketRecord;
  /** Fingerprints of the record as it was sent. */
  sent: RecordFingerprints;
  /** The record with what only the store knows. */
  record: MarketRecord;
  firstSeenAt: string;
  version: string;
  /** Whether its facts differ from those that were written. */
  infoChanged: boolean;
  /** Fingerprint of status and result. */
  level: bigint;
  /** Whether its facts, status or result differ from those that were written. */
  hasMoved: boolean;
  /** Whether the platform's own object is written too. */
  hasRaw: boolean;
}

/** Completes a record, and decides which of its rows are written. `nowMs`: Unix ms. */
export function prepareMarket(
  asSent: MarketRecord,
  sent: RecordFingerprints,
  known: Partial<KnownMarket> & { statedResolution: string | undefined },
  found: LookedBack | undefined,
  nowMs: number,
): PreparedMarket {
  const { written, openInterest, resting, lastTrade: bookPrice, statedResolution } = known;
  const { stored, traded } = found ?? {};
  const said = { openInterest, resting, bookPrice, statedResolution };
  const { record, firstSeenAt } = enrichFromStore(asSent, { stored, traded, ...said });
  const level = levelFingerprint(record.state);
  const infoChanged = written?.info !== sent.info;
  const isRawOld = Date.parse(record.fetchedAt) - (written?.rawAtMs ?? 0) >= RAW_MS;
  return {
    asSent,
    sent,
    record,
    firstSeenAt,
    version: versionOf(record.fetchedAt, stored?.synced_at, nowMs),
    infoChanged,
    level,
    hasMoved: infoChanged || written?.level !== level,
    hasRaw: infoChanged || isRawOld || written?.status !== record.state.status,
  };
}

/** Inserts the rows of prepared markets. */
export async function insertMarkets(
  clickhouse: Pick<ClickHouse, 'insert'>,
  markets: readonly PreparedMarket[],
  urgency: Urgency,
): Promise<void> {
  const insert = (table: string, rows: object[]) => clickhouse.insert(table, rows, urgency);
  await Promise.all([
    insert(
      'markets',
      markets.flatMap(({ record, firstSeenAt, version, infoChanged }) =>
        infoChanged ? marketRow(record.info, firstSeenAt, version) : [],
      ),
    ),
    insert(
      RAW_COLUMNS,
      markets.flatMap(({ record, version, hasRaw }) => (hasRaw ? rawRow({ ...record, fetchedAt: version }) : [])),
    ),
    insert(
      MARKET_SNAPSHOT_COLUMNS,
      markets.map(({ record }) => marketSnapshotRow(record.info, record.state, record.fetchedAt)),
    ),
  ]);
  // The state comes last: a market counts as listed once it has a state, so everything else must be there.
  await insert(
    STATE_COLUMNS,
    markets.map(({ sent, record, firstSeenAt, version }) => stateRow(record, sent, firstSeenAt, version)),
  );
}
