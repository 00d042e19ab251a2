import type { Clock } from '../../core/time.ts';
import type { BudgetRule, Shared } from '../../stores/shared/shared.ts';
import type { Log } from '../../core/log.ts';
import { PlatformError } from '../../core/errors.ts';
import { NoBudgetError, NotSentError } from './errors.ts';
import { Lane } from './lane.ts';
import type { Passage } from './passage.ts';
import type { PlatformRequest, Priority } from './request.ts';
import { withDeadline } from './deadline.ts';
import { ofAccount, ofUser } from './limit-group.ts';
import type { LimitGroupName } from '../manifests.ts';
import { isLimitGroup, limitGroup, platformOfGroup } from './limit-groups.ts';
import { Cache } from '../../core/cache.ts';

/** Lanes of accounts in memory; a dropped one starts anew, while its platform still counts its calls. */
const MAX_LANES = 5000;
/** Longest wait before a request is sent. */
const QUEUE_MS: Record<Priority, number> = { live: 5000, poll: 60_000, backfill: 300_000 };
/** Message after a 429, to every process: "<group> <pause in ms> <account> <keeps-pace or nothing>". */
const LIMITS_CHANNEL = 'platform-limits';

/** Requests waiting in this process, by budget. */
export interface Queue {
  budget: string;
  waiting: number;
}

/** Where requests wait before sending: first for the caller's share, then in the lane of the group or account. */
export class RequestQueue {
  readonly #shared: Shared;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #lanes = new Cache<string, Lane>({ limit: MAX_LANES });
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(shared: Shared, log: Log, clock: Clock) {
    this.#shared = shared;
    this.#log = log;
    this.#clock = clock;
    void shared.subscribe(LIMITS_CHANNEL, (message) => this.#applyPause(message));
  }

  /**
   * Runs `call` once the request may be sent; throws NotSentError if the wait takes too long. Where the moment of sending counts, `call`
   * is given a function to call when it writes the request.
   */
  async pass<T>(request: PlatformRequest, timeoutMs: number, call: (onSent?: () => void) => Promise<T>): Promise<T> {
    const { platform, group, priority } = request;
    const usualMs = priority === 'live' ? Math.min(QUEUE_MS.live, timeoutMs) : QUEUE_MS[priority];
    const waitMs = request.waitMs ?? usualMs;
    const notSent = (detail: string) => () =>
      new NotSentError(platform, 'unavailable', { detail: `${group}: ${detail}`, retryAfterMs: 1000 });
    const limit = { ms: waitMs, late: notSent('queue too long'), cancelled: notSent('cancelled') };
    if (this.#closed) throw notSent('shutting down')();
    const passage = await withDeadline(this.#clock, limit, request.signal, this.#waiting, (signal) =>
      this.#enter(request, { waitMs, holdMs: timeoutMs, signal }),
    );
    let answered = true;
    try {
      return await call(passage.sent && (() => passage.sent?.()));
    } catch (error) {
      answered = error instanceof PlatformError && error.status > 0;
      throw error;
    } finally {
      passage.end(answered);
    }
  }

  /** After a 429: no process sends calls of this group and account for `pauseMs`, then fewer unless it `keepsPace`. */
  pause(
    { group, account = '' }: PlatformRequest,
    { pauseMs, keepsPace, detail }: { pauseMs: number; keepsPace: boolean; detail: string },
  ): void {
    this.#log.warn({ group, pauseMs, detail }, 'The platform is rate limiting this service');
    void this.#shared.publish(LIMITS_CHANNEL, `${group} ${pauseMs} ${account}${keepsPace ? ' keeps-pace' : ''}`);
  }

  /** Sleeps between attempts; the caller and close may end it. */
  rest({ platform, signal: outer }: PlatformRequest, ms: number): Promise<void> {
    const woken = () => new NotSentError(platform, 'unavailable', { detail: 'cancelled' });
    const limit = { ms: ms + 1000, late: woken, cancelled: woken };
    return withDeadline(this.#clock, limit, outer, this.#waiting, (signal) => this.#clock.sleep(ms, signal));
  }

  queues(): Queue[] {
    return this.#lanes.entries().map(([budget, { waiting }]) => ({ budget, waiting }));
  }

  /** Rejects waiting and new requests. */
  close(): void {
    this.#closed = true;
    for (const cancel of this.#waiting) cancel();
  }

  async #enter(
    request: PlatformRequest,
    { waitMs, holdMs, signal }: { waitMs: number; holdMs: number; signal: AbortSignal },
  ): Promise<Passage> {
    const { group, account, method, priority } = request;
    const deadline = this.#clock.elapsed() + waitMs;
    const cost = request.cost ?? limitGroup(group).cost;
    await this.#takeShares(request, cost, deadline, signal);
    const spare = request.isUrgent && (await this.#laneOf(group, 'live', account).enterIdle({ cost, holdMs, signal }));
    if (spare) return spare;
    const lane = this.#laneOf(group, priority === 'live' ? 'live' : 'background', account);
    const rank = priority === 'live' && method !== 'GET' ? 'order' : priority;
    return lane.enter({ cost, priority: rank, waitMs: deadline - this.#clock.elapsed(), holdMs, signal });
  }

  /** Waits outside the lanes, so that a user without budget does not delay others. */
  async #takeShares(
    { platform, group, account, method, priority, user, shareTaken = false }: PlatformRequest,
    cost: number,
    deadline: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (user === undefined || priority !== 'live') return;
    const { live, callers } = limitGroup(group);
    const common = callers ?? live;
    const take = async (budget: BudgetRule, part: number, refusal: () => NoBudgetError): Promise<void> => {
      const maxWaitMs = Math.max(0, deadline - this.#clock.elapsed()) * part;
      const wait = await this.#shared.takeBudget(budget, cost, maxWaitMs);
      if (wait === null) throw refusal();
      if (wait > 0) await this.#clock.sleep(wait, signal);
    };
    const own = ofUser(account === undefined ? common : ofAccount(live, account), user);
    const perMinute = Math.floor((60 * own.refillPerSecond) / limitGroup(group).cost);
    // The remaining wait is for calls of others.
    if (!shareTaken) {
      await take(own, 0.5, () => {
        const detail = `${group}: one user may cause ${perMinute} calls a minute`;
        const retryAfterMs = (1000 * cost) / own.refillPerSecond;
        return new NoBudgetError(platform, 'over_share', { detail, retryAfterMs });
      });
    }
    // Orders and cancels are sent before any read, and are few.
    if (callers === null || account !== undefined || method !== 'GET') return;
    await take(callers, 1, () => {
      const detail = `${group}: no request budget left for callers`;
      return new NoBudgetError(platform, 'unavailable', { detail, retryAfterMs: 1000 });
    });
  }

  #laneOf(group: LimitGroupName, share: 'live' | 'background', account = ''): Lane {
    const limits = limitGroup(group);
    const rule = account === '' ? limits[share] : ofAccount(limits[share], account);
    const known = this.#lanes.get(rule.name);
    if (known) return known;
    const lane = new Lane({
      platform: platformOfGroup(group),
      name: group,
      group: limits,
      rule,
      shared: this.#shared,
      clock: this.#clock,
    });
    this.#lanes.set(rule.name, lane);
    return lane;
  }

  #applyPause(message: string): void {
    const [group = '', pauseMs, account, pace] = message.split(' ');
    if (!isLimitGroup(group) || !(Number(pauseMs) >= 0)) return;
    for (const share of ['live', 'background'] as const) {
      const lane = this.#laneOf(group, share, account);
      lane.pause(Number(pauseMs));
      const { slowAfterLimitMs } = limitGroup(group);
      if (slowAfterLimitMs !== null && pace !== 'keeps-pace') lane.slow(slowAfterLimitMs);
    }
  }
}
