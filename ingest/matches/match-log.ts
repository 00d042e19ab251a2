import { z } from 'zod';
import { marketName, matchId } from '../../src/core/market-key.ts';
import { type Platform, PLATFORMS } from '../../src/core/model.ts';
import { storeTime } from '../../src/core/time.ts';
import { keptSince } from '../../src/stores/clickhouse/retention.ts';
import type { Lease } from '../../src/stores/shared/shared.ts';
import { type AppenderDeps, EventAppender, type NewEvent } from '../event-appender.ts';
import { Comparisons, COMPARED_OVERLAP_MS } from '../comparisons.ts';

/** Verdicts logged per batch. */
const STEP_ROWS = 5000;

const UnloggedRow = z.object({
  match_key: z.string(),
  a_platform: z.enum(PLATFORMS),
  a_ref: z.string(),
  a_id: z.string(),
  a_title: z.string(),
  a_event_id: z.string(),
  b_platform: z.enum(PLATFORMS),
  b_ref: z.string(),
  b_id: z.string(),
  b_title: z.string(),
  b_event_id: z.string(),
  relation: z.string(),
  previous_relation: z.string(),
  kind: z.string(),
  rules_version: z.number(),
  is_withdrawn: z.boolean(),
  found_at: z.string(),
  checked_at: z.string(),
  item: z.string(),
});
type UnloggedRow = z.infer<typeof UnloggedRow>;

/**
 * Logs verdicts on pairs whose first market is of the platform. It compares the stored verdicts with the log, so a kill or a takeover loses
 * none. Verdicts from before the log was first opened are no events.
 */
export class MatchLog {
  readonly #deps: AppenderDeps & { platform: Platform };
  readonly #appender: EventAppender;
  #openedUnder: Lease | null = null;
  #openedMs = 0;
  /** Verdicts made before this time are logged. */
  #sinceMs = 0;
  /** Other processes store verdicts too, without a message. */
  readonly #comparisons: Comparisons;

  constructor(deps: AppenderDeps & { platform: Platform }) {
    this.#deps = deps;
    this.#appender = new EventAppender(deps, { feed: 'matches', platform: deps.platform });
    this.#comparisons = new Comparisons(this.#deps.clock, 1);
  }

  /** Call it when verdicts were stored. */
  verdictsStored(): void {
    this.#comparisons.ask();
  }

  /** Runs step if verdicts were stored, if the last comparison is a minute old, or if the lease is another one. */
  async stepIfDue(lease: Lease): Promise<number> {
    return (await this.#comparisons.run(() => this.step(lease), this.#openedUnder !== lease)) ?? 0;
  }

  /** Logs what was stored since the last step; returns the number of events. */
  async step(lease: Lease): Promise<number> {
    const { clickhouse, platform } = this.#deps;
    if (this.#openedUnder !== lease) {
      this.#openedMs = (await this.#appender.open(lease)).getTime();
      // Older events were dropped: the log does not show whether older verdicts were logged.
      this.#sinceMs = Math.max(this.#openedMs, await keptSince(clickhouse, 'event_log', this.#deps.clock.now()));
      this.#openedUnder = lease;
    }
    await this.#appender.settle(lease);
    const nextMs = Math.max(this.#openedMs, this.#deps.clock.now() - COMPARED_OVERLAP_MS);
    for (let logged = 0; ;) {
      const rows = await clickhouse.query('unlogged_matches', UnloggedRow, {
        platform,
        since: storeTime(this.#sinceMs),
        limit: STEP_ROWS,
      });
      await this.#appender.append(rows.map(matchEventOf), lease);
      logged += rows.length;
      if (rows.length < STEP_ROWS) {
        this.#sinceMs = nextMs;
        return logged;
      }
    }
  }
}

/** The `match` event of a verdict, without the fields that are added when it is sent. */
function matchEventOf(row: UnloggedRow): NewEvent {
  const a = { platform: row.a_platform, ref: row.a_ref };
  const b = { platform: row.b_platform, ref: row.b_ref };
  const before = row.previous_relation === '' ? null : row.previous_relation;
  const data = {
    type: row.is_withdrawn ? 'withdrawn' : before === null ? 'found' : 'changed',
    match_id: matchId(row.match_key),
    relation: row.is_withdrawn ? null : row.relation,
    previous_relation: before,
    kind: row.kind,
    a: { platform: row.a_platform, market_id: row.a_id, title: row.a_title },
    b: { platform: row.b_platform, market_id: row.b_id, title: row.b_title },
    rules_version: row.rules_version,
    found_at: row.found_at,
    checked_at: row.checked_at,
  };
  return {
    ref: `${marketName(a)}\n${marketName(b)}`,
    eventId: `${a.platform}:${row.a_event_id}\n${b.platform}:${row.b_event_id}`,
    size: '0',
    notional: '0',
    item: row.item,
    data: JSON.stringify(data).toWellFormed(),
  };
}
