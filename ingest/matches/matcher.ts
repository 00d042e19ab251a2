import PQueue from 'p-queue';
import { z } from 'zod';
import { type Platform, PLATFORMS } from '../../src/core/model.ts';
import { type Clock, HOUR_MS, storeTime } from '../../src/core/time.ts';
import { type MarketFacts, RULES_VERSION } from '../../src/matching/facts.ts';
import { MatchIndex } from '../../src/matching/match-index.ts';
import type { Projector } from '../../src/present/projector.ts';
import type { AppenderDeps } from '../event-appender.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import { MatchLog } from './match-log.ts';
import { DueRow, type ReadMarket, readMarkets } from './read-markets.ts';
import { forgetSettled } from './retention.ts';
import { storeVerdicts } from './verdicts.ts';
import { partsOf } from '../../src/core/parts.ts';
import { Comparisons, COMPARED_OVERLAP_MS } from '../comparisons.ts';

/** Maximum new or changed markets of one read. */
const LOOK_ROWS = 5000;
/** Markets that are read, judged or stored together. */
const JUDGED_AT_ONCE = 1000;
/** Maximum facts of one read. */
const PAGE_ROWS = 5000;
/** The index is built again this often: markets that no longer trade leave it. */
const REBUILD_MS = 6 * HOUR_MS;

const FACTS_COLUMNS =
  'market_facts (platform, market_key, texts, rules_version, kind, event_id, category_slug, facts, is_judged)';
const FactsRow = z.object({
  platform: z.enum(PLATFORMS),
  market_key: z.string(),
  texts: z.string(),
  event_id: z.string(),
  category_slug: z.string(),
  facts: z.string(),
});

interface Deps extends AppenderDeps {
  clock: Clock;
  /** Copies verdicts to PostgreSQL. */
  present: Pick<Projector, 'matchesStored' | 'dropMatches'>;
}

/** When the markets of a platform are compared, and the log of the verdicts on its pairs. */
type PerPlatform = Record<Platform, { comparisons: Comparisons; log: MatchLog }>;

/**
 * Finds new and changed questions by comparing the stored markets with the facts that were read of them. So a kill or a lost message loses
 * nothing. New facts are stored, then judged with those of other platforms. The platforms of a process share one index, which is built
 * from the store.
 */
export class MarketMatcher {
  readonly #deps: Deps;
  readonly #index = new MatchIndex();
  /** One step at a time: all use the index. */
  readonly #steps = new PQueue({ concurrency: 1 });
  readonly #platforms: PerPlatform;
  /** Facts stored before this time are in the index, Unix ms; 0 if it is empty. */
  #sinceMs = 0;
  #builtAt = -Infinity;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#platforms = Object.fromEntries(
      PLATFORMS.map((platform) => [
        platform,
        { comparisons: new Comparisons(deps.clock, 2), log: new MatchLog({ ...deps, platform }) },
      ]),
    ) as PerPlatform;
  }

  /** Call it when markets of a platform were stored with other facts or another status. */
  marketsStored(platform: Platform): void {
    this.#platforms[platform].comparisons.ask();
  }

  /** The job of a platform: finds its new and changed markets, then logs the verdicts on pairs that begin with it. */
  async run(platform: Platform, { signal, lease }: Pick<JobRun, 'signal' | 'lease'>): Promise<JobResult | null> {
    const freshTo = new Date(this.#deps.clock.now());
    const { comparisons, log } = this.#platforms[platform];
    const rows = await comparisons.run(() => this.step(platform, signal));
    await log.stepIfDue(lease);
    return rows ? { freshTo, rows } : null;
  }

  /** Reads and judges all markets of a platform that are due; returns their number. */
  async step(platform: Platform, signal: AbortSignal): Promise<number> {
    let total = 0;
    for (;;) {
      const rows = await this.#steps.add(() => this.#look(platform, signal));
      total += rows;
      if (rows < LOOK_ROWS) return total;
    }
  }

  async #look(platform: Platform, signal: AbortSignal): Promise<number> {
    const { clickhouse } = this.#deps;
    const due = await clickhouse.query('questions_to_read', DueRow, {
      platform,
      rules: RULES_VERSION,
      limit: LOOK_ROWS,
    });
    const read: ReadMarket[] = [];
    for (const group of partsOf(due, JUDGED_AT_ONCE)) {
      signal.throwIfAborted();
      const found = await readMarkets(clickhouse, platform, group, this.#deps.log);
      // Stored before they are judged: if two processes each read one market of a pair, the later one finds the other's facts.
      await this.#storeFacts(found, false);
      read.push(...found);
    }
    if (read.length > 0) await this.#takeStored(signal);
    for (const market of read) this.#keep(market);
    for (const group of partsOf(read, JUDGED_AT_ONCE)) {
      signal.throwIfAborted();
      const stored = await storeVerdicts(clickhouse, this.#index, group, this.#deps.clock.now());
      if (stored.length > 0) {
        for (const { log } of Object.values(this.#platforms)) log.verdictsStored();
        await this.#deps.present.matchesStored(stored);
      }
      await this.#storeFacts(group, true);
    }
    return due.length;
  }

  async #storeFacts(read: readonly ReadMarket[], isJudged: boolean): Promise<void> {
    const rows = read.map((market) => factsRow(market, isJudged));
    if (rows.length > 0) await this.#deps.clickhouse.insert(FACTS_COLUMNS, rows);
  }

  #keep({ facts, ...market }: ReadMarket): void {
    if (facts) this.#index.set({ ...market, facts });
    else this.#index.delete(market.key);
  }

  /** Adds what was stored since the last call to the index. At first, and every six hours, the index is built anew without old markets. */
  async #takeStored(signal: AbortSignal): Promise<void> {
    const { clickhouse, clock, present } = this.#deps;
    if (clock.elapsed() - this.#builtAt >= REBUILD_MS) {
      await forgetSettled(clickhouse, present, clock.now(), signal);
      this.#index.clear();
      this.#sinceMs = 0;
    }
    const nextMs = clock.now() - COMPARED_OVERLAP_MS;
    let after = 0n;
    for (;;) {
      const rows = await clickhouse.query('facts_of_open_markets', FactsRow, {
        after,
        since: storeTime(this.#sinceMs),
        rules: RULES_VERSION,
        limit: PAGE_ROWS,
      });
      for (const { market_key: key, event_id: eventId, category_slug: categorySlug, facts, ...row } of rows) {
        if (facts === '') this.#index.delete(key);
        else if (this.#index.textsOf(key) !== row.texts)
          this.#index.set({ ...row, key, eventId, categorySlug, facts: JSON.parse(facts) as MarketFacts });
      }
      const last = rows.at(-1);
      if (!last || rows.length < PAGE_ROWS) break;
      after = BigInt(last.market_key);
    }
    if (this.#sinceMs === 0) this.#builtAt = clock.elapsed();
    this.#sinceMs = nextMs;
  }
}

const factsRow = ({ platform, key, texts, eventId, categorySlug, facts }: ReadMarket, isJudged: boolean): object => ({
  platform,
  market_key: key,
  texts,
  rules_version: RULES_VERSION,
  kind: facts?.kind ?? '',
  event_id: eventId,
  category_slug: categorySlug,
  facts: facts ? JSON.stringify(facts) : '',
  is_judged: isJudged,
});
