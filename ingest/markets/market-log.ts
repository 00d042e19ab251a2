import { z } from 'zod';
import type { Platform } from '../../src/core/model.ts';
import { microsecondText } from '../../src/stores/clickhouse/insert-rows.ts';
import type { Lease } from '../../src/stores/shared/shared.ts';
import { marketEvent } from '../../src/streams/market-event.ts';
import { type AppenderDeps, EventAppender } from '../event-appender.ts';
import { Comparisons, COMPARED_OVERLAP_MS } from '../comparisons.ts';

/** Changes logged per step; the rest follow in the next. */
const STEP_ROWS = 5000;
/** A row of sql/queries/market_writes.sql. */
const WritesRow = z.object({ second: z.number(), digest: z.string() });
type WritesRow = z.output<typeof WritesRow>;

/** A new writer replays everything after the newest level, and at least this much: rows of the writer before it may have come late. */
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

/** Whether a change is an event: a market that is closed or settled when it is first seen is not. */
const isNewChange = ({ previous_status: before, status }: ChangeRow): boolean =>
  before !== '' || NEW_STATUSES.has(status);

/**
 * Logs market changes by comparing the stored markets with what was logged last, so a kill, a takeover or a missed
 * notification loses nothing. The first complete listing is the baseline and logs nothing.
 */
export class MarketLog {
  readonly #deps: AppenderDeps & { platform: Platform };
  readonly #appender: EventAppender;
  #openedUnder: Lease | null = null;
  #hasLevels = false;
  /** The lease under which the log had not begun. Only the holder of the lease begins it, so one read is enough. */
  #notBegunUnder: Lease | null = null;
  /** Whether the last logged state is known; false after a failed step. */
  #isSettled = false;
  /** Writes since this full second are compared, Unix ms; 0 = compare everything. */
  #sinceMs = 0;
  /** Digests of the seconds since then that have been compared. */
  #compared = new Map<number, string>();
  readonly #comparisons: Comparisons;

  constructor(deps: AppenderDeps & { platform: Platform }) {
    this.#deps = deps;
    this.#appender = new EventAppender(deps, { feed: 'markets', platform: deps.platform });
    this.#comparisons = new Comparisons(this.#deps.clock, 2);
  }

  /** Takes the current markets as the baseline; call it after a complete listing. */
  async begin(lease: Lease): Promise<void> {
    if (this.#hasLevels || (await this.#isBegun(lease))) return;
    await this.#open(lease);
    for (;;) {
      const changes = await this.#changes();
      await this.#keep(changes.map((change) => ({ change, version: 0 })));
      if (changes.length < STEP_ROWS) break;
    }
    // Only now: before the baseline is complete, a step would log known markets as new.
    const { clickhouse, platform } = this.#deps;
    await clickhouse.insert('market_levels (platform, market_key, status, item, version)', [
      { platform, market_key: '0', status: 'begun', item: '0', version: '0' },
    ]);
    this.#hasLevels = true;
  }

  /** Call it when markets were stored with other facts or another status. */
  marketsStored(): void {
    this.#comparisons.ask();
  }

  /** Runs step if markets were stored, if the last comparison is a minute old, or if the lease is another one. */
  async stepIfDue(lease: Lease): Promise<number> {
    const isForced = !this.#isSettled || this.#openedUnder !== lease;
    return (await this.#comparisons.run(() => this.step(lease), isForced)) ?? 0;
  }

  /** Logs the changes since the last step; returns the number of events. Does nothing before the first complete listing. */
  async step(lease: Lease): Promise<number> {
    if (!this.#hasLevels && !(await this.#isBegun(lease))) return 0;
    await this.#open(lease);
    const nextMs = Math.floor((this.#deps.clock.now() - COMPARED_OVERLAP_MS) / 1000) * 1000;
    const writes = this.#sinceMs === 0 ? [] : await this.#writes();
    const due = writes.filter((write) => this.#isDue(write, nextMs));
    const isQuiet = this.#sinceMs > 0 && due.length === 0;
    const changes = isQuiet
      ? []
      : await this.#changes(this.#sinceMs === 0 ? undefined : due.map(({ second }) => second));
    const news = changes.filter(isNewChange);
    this.#isSettled = false;
    const first = await this.#appender.append(
      news.map((change) => this.#event(change)),
      lease,
    );
    const old = changes.filter((change) => !isNewChange(change));
    await this.#keep([
      ...news.map((change, index) => ({ change, version: first + index })),
      ...old.map((change) => ({ change, version: 0 })),
    ]);
    this.#isSettled = true;
    // There may be more changes: an archive has thousands of closed markets, which are no events.
    if (changes.length >= STEP_ROWS) this.marketsStored();
    else {
      this.#sinceMs = nextMs;
      this.#compared = new Map(writes.map(({ second, digest }) => [second, digest]));
    }
    return news.length;
  }

  /** A second is compared if its writes changed, and once more before it is left: replicas may show a market's facts after its state. */
  #isDue({ second, digest }: WritesRow, nextMs: number): boolean {
    return second * 1000 < nextMs || this.#compared.get(second) !== digest;
  }

  async #isBegun(lease: Lease): Promise<boolean> {
    if (this.#notBegunUnder === lease) return false;
    const { clickhouse, platform } = this.#deps;
    const [row] = await clickhouse.query('has_market_levels', z.object({ known: z.coerce.boolean() }), { platform });
    this.#hasLevels = row?.known === true;
    if (!this.#hasLevels) this.#notBegunUnder = lease;
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
    // The log is authoritative: this table may lag behind after a failure, a kill or a late row of a predecessor.
    await clickhouse.run('replay_market_levels', { platform, hours: REPLAY_HOURS });
    this.#openedUnder = lease;
    this.#isSettled = true;
  }

  #writes(): Promise<WritesRow[]> {
    const { clickhouse, platform } = this.#deps;
    return clickhouse.query('market_writes', WritesRow, { platform, since: timeText(this.#sinceMs) });
  }

  /** Markets that differ from what was logged: of those written in these seconds, else of all. */
  #changes(seconds?: readonly number[]): Promise<ChangeRow[]> {
    const { clickhouse, platform } = this.#deps;
    const since = seconds === undefined ? 0 : this.#sinceMs;
    return clickhouse.query('market_changes', ChangeRow, {
      platform,
      since: timeText(since),
      seconds,
      limit: STEP_ROWS,
    });
  }

  #event(change: ChangeRow) {
    const { platform } = this.#deps;
    const data = marketEvent(platform, change, new Date(this.#deps.clock.now()).toISOString());
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
