import { z } from 'zod';
import type { Platform } from '../src/core/model.ts';
import { microsecondText } from '../src/stores/clickhouse/insert-rows.ts';
import type { Lease } from '../src/stores/shared/shared.ts';
import { marketEvent } from '../src/streams/market-event.ts';
import { type AppenderDeps, EventAppender } from './event-appender.ts';

/** Changes logged at once; the rest follow in the next step. */
const STEP_ROWS = 5000;
/** Before the last step: rows are visible a moment after their time, and clocks differ. */
const OVERLAP_MS = 60_000;
/** A row of sql/queries/market_writes.sql. */
const WritesRow = z.object({ second: z.number(), digest: z.string() });
type WritesRow = z.output<typeof WritesRow>;

/** How far back what the log said is read again by a new writer, besides what lies behind the newest level: late rows of one before. */
const REPLAY_HOURS = 24;

const ChangeRow = z.object({
  ref: z.string(),
  platform_id: z.string(),
  event_id: z.string(),
  status: z.string(),
  previous_status: z.string(),
  resolved_at: z.string().nullable(),
  payouts: z.string(),
  synced_at: z.string(),
  fingerprint: z.string(),
});
type ChangeRow = z.output<typeof ChangeRow>;

const timeText = (ms: number): string => microsecondText(ms * 1000).slice(0, 23);

/** States in which a market that is first seen counts as new. */
const NEW_STATUSES = new Set(['unopened', 'open', 'paused']);

/** A market that is long over and only now read is no news. */
const isNews = ({ previous_status: before, status }: ChangeRow): boolean => before !== '' || NEW_STATUSES.has(status);

/**
 * Logs what happens to markets by comparing what is stored with what was logged last: a kill, a takeover or a missed notification
 * changes nothing of that. The first complete listing is where the comparison begins, and no event.
 */
export class MarketLog {
  readonly #deps: AppenderDeps & { platform: Platform };
  readonly #appender: EventAppender;
  #openedUnder: Lease | null = null;
  #hasLevels = false;
  /** Whether what was logged last is known; not so after a step that failed. */
  #isSettled = false;
  /** A whole second; 0 = everything is to be compared. */
  #sinceMs = 0;
  /** Digests of the seconds since then whose markets were compared. */
  #compared = new Map<number, string>();

  constructor(deps: AppenderDeps & { platform: Platform }) {
    this.#deps = deps;
    this.#appender = new EventAppender(deps, { feed: 'markets', platform: deps.platform });
  }

  /** Takes the markets as they are now for known; to be called after a complete listing. */
  async begin(lease: Lease): Promise<void> {
    if (this.#hasLevels || (await this.#isBegun())) return;
    await this.#open(lease);
    for (;;) {
      const changes = await this.#changes();
      await this.#keep(changes.map((change) => ({ change, version: 0 })));
      if (changes.length < STEP_ROWS) break;
    }
    // Only now: what is still to be taken for known would be news to a step.
    const { clickhouse, platform } = this.#deps;
    await clickhouse.insert('market_levels (platform, market_key, status, item, version)', [
      { platform, market_key: '0', status: 'begun', item: '0', version: '0' },
    ]);
    this.#hasLevels = true;
  }

  /** Logs what has changed since the last step; returns how many events. Does nothing before the first complete listing. */
  async step(lease: Lease): Promise<number> {
    if (!this.#hasLevels && !(await this.#isBegun())) return 0;
    await this.#open(lease);
    const nextMs = Math.floor((Date.now() - OVERLAP_MS) / 1000) * 1000;
    const writes = this.#sinceMs === 0 ? [] : await this.#writes();
    const due = writes.filter((write) => this.#isDue(write, nextMs));
    const isQuiet = this.#sinceMs > 0 && due.length === 0;
    const changes = isQuiet ? [] : await this.#changes(due.map(({ second }) => second));
    const news = changes.filter(isNews);
    this.#isSettled = false;
    const first = await this.#appender.append(
      news.map((change) => this.#event(change)),
      lease,
    );
    const old = changes.filter((change) => !isNews(change));
    await this.#keep([
      ...news.map((change, index) => ({ change, version: first + index })),
      ...old.map((change) => ({ change, version: 0 })),
    ]);
    this.#isSettled = true;
    if (changes.length < STEP_ROWS) {
      this.#sinceMs = nextMs;
      this.#compared = new Map(writes.map(({ second, digest }) => [second, digest]));
    }
    return news.length;
  }

  /** Also once more when it is seen for the last time: on an engine with replicas the listing may be visible later than the state. */
  #isDue({ second, digest }: WritesRow, nextMs: number): boolean {
    return second * 1000 < nextMs || this.#compared.get(second) !== digest;
  }

  async #isBegun(): Promise<boolean> {
    const { clickhouse, platform } = this.#deps;
    const [row] = await clickhouse.query('has_market_levels', z.object({ known: z.coerce.boolean() }), { platform });
    this.#hasLevels = row?.known === true;
    return this.#hasLevels;
  }

  async #open(lease: Lease): Promise<void> {
    if (this.#openedUnder === lease && this.#isSettled) return;
    if (this.#openedUnder === lease) await this.#appender.settle(lease);
    else {
      await this.#appender.open(lease);
      this.#sinceMs = 0;
      this.#compared.clear();
    }
    const { clickhouse, platform } = this.#deps;
    // A failure or a kill came between the log and this table, or the row of a predecessor came late: the log is what counts.
    await clickhouse.run('replay_market_levels', { platform, hours: REPLAY_HOURS });
    this.#openedUnder = lease;
    this.#isSettled = true;
  }

  #writes(): Promise<WritesRow[]> {
    const { clickhouse, platform } = this.#deps;
    return clickhouse.query('market_writes', WritesRow, { platform, since: timeText(this.#sinceMs) });
  }

  /** Of the markets written in these seconds, or of all where none are named, those that differ from what was logged. */
  #changes(seconds: readonly number[] = []): Promise<ChangeRow[]> {
    const { clickhouse, platform } = this.#deps;
    const since = seconds.length === 0 ? 0 : this.#sinceMs;
    return clickhouse.query('market_changes', ChangeRow, {
      platform,
      since: timeText(since),
      seconds,
      limit: STEP_ROWS,
    });
  }

  #event(change: ChangeRow) {
    const { platform } = this.#deps;
    const data = marketEvent(platform, change, new Date().toISOString());
    const { ref, event_id: eventId, fingerprint: item } = change;
    return { ref, eventId, size: '0', notional: '0', item, data: JSON.stringify(data).toWellFormed() };
  }

  async #keep(levels: readonly { change: ChangeRow; version: number }[]): Promise<void> {
    const { clickhouse, platform } = this.#deps;
    const rows = levels.map(({ change: { ref, status, fingerprint }, version }) => ({
      platform,
      ref,
      status,
      fingerprint,
      version: String(version),
    }));
    if (rows.length > 0) await clickhouse.insert('market_levels (platform, ref, status, fingerprint, version)', rows);
  }
}
