import PQueue from 'p-queue';
import { waitUntil } from '../../core/retry.ts';
import type { Clock } from '../../core/time.ts';
import type { BudgetRule, Shared, Slot } from '../../stores/shared/shared.ts';
import type { Platform } from '../../core/model.ts';
import { NoBudgetError, NotSentError } from './errors.ts';
import type { Priority } from './request.ts';
import type { LimitGroup } from './limit-group.ts';
import { countedPassage, type Passage, type Places } from './passage.ts';

const MAX_QUEUED = 1000;
const SLOT_POLL_MS = 25;
/** Longest time from asking for the budget to sending, a new connection included. */
const LEAVE_MS = 10_000;
/** Orders and cancels do not wait behind callers' reads. */
type Rank = Priority | 'order';
const RANK: Record<Rank, number> = { order: 3, live: 2, poll: 1, backfill: 0 };

interface Entry {
  cost: number;
  priority: Rank;
  /** Longest wait before it is sent. */
  waitMs: number;
  /** Longest time in flight. */
  holdMs: number;
  /** Ends the wait; its reason is thrown. */
  signal: AbortSignal;
  /** Whether half of the budget must remain. */
  isSpare?: boolean;
}

interface LaneDeps {
  platform: Platform;
  /** Name in errors: the group's, without the account. */
  name: string;
  group: LimitGroup;
  rule: BudgetRule;
  shared: Shared;
  clock: Clock;
}

/**
 * Sends the calls of one budget. A single gate releases them one after the other, the highest priority first, each with a slot and its
 * share of the budget. Where all processes count together, the next call waits until this one was sent.
 */
export class Lane {
  readonly #gate = new PQueue({ concurrency: 1 });
  readonly #deps: LaneDeps;
  readonly #clock: Clock;
  #inFlight = 0;
  #pausedUntil = 0;
  #slowUntil = 0;
  /** Usual round trip to the shared budget: the smallest seen, rising slowly. */
  #askMs = Number.POSITIVE_INFINITY;

  constructor(deps: LaneDeps) {
    this.#deps = deps;
    this.#clock = deps.clock;
  }

  /** Requests waiting for their budget. */
  get waiting(): number {
    return this.#gate.size;
  }

  /** Sends nothing for `ms`. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.elapsed() + ms);
  }

  /** Halves the rate for `ms`. */
  slow(ms: number): void {
    this.#slowUntil = this.#clock.elapsed() + ms;
  }

  /** Enters with unused budget if no call waits for it, and half of it remains for later calls; null if that is not possible at once. */
  async enterIdle({ cost, holdMs, signal }: Pick<Entry, 'cost' | 'holdMs' | 'signal'>): Promise<Passage | null> {
    if (this.#gate.isPaused || this.#gate.size + this.#gate.pending > 0) return null;
    const entry: Entry = { cost, priority: 'poll', waitMs: 0, holdMs, signal, isSpare: true };
    return this.enter(entry).catch((error: unknown) => {
      if (error instanceof NotSentError) return null;
      throw error;
    });
  }

  /**
   * Resolves when the call may be sent; throws NotSentError or the signal's reason.
   * 1. The call waits for its turn at the gate. 2. It waits for its places and its budget.
   * 3. It counts as in flight. The gate pauses while the group's maximum is in flight.
   * 4. A call that all processes count holds the gate until it has left: no call overtakes it.
   */
  async enter(entry: Entry): Promise<Passage> {
    if (this.#gate.size >= MAX_QUEUED) throw this.#refusal('queue full', 1000);
    const deadline = this.#clock.elapsed() + entry.waitMs;
    return new Promise((resolve, reject) => {
      let passage: Passage | undefined;
      const pass = async (): Promise<void> => {
        passage = await this.#admit(entry, deadline);
        this.#arrive();
        if (!passage.left) return;
        resolve(passage);
        await passage.left;
      };
      this.#gate.add(pass, { priority: RANK[entry.priority], signal: entry.signal }).then(
        () => passage && resolve(passage),
        (error: unknown) => {
          if (passage?.left === null) passage.end(true);
          reject(error);
        },
      );
    });
  }

  #arrive(): void {
    this.#inFlight++;
    if (this.#inFlight >= this.#deps.group.concurrency) this.#gate.pause();
  }

  readonly #leave = (): void => {
    this.#inFlight--;
    this.#gate.start();
  };

  /** Waits for the places and the budget of a call; a grant that cannot be used in time is given up for another. */
  async #admit(entry: Entry, deadline: number): Promise<Passage> {
    for (;;) {
      await this.#outlastPause(entry, deadline);
      const places = await this.#takePlaces(entry, deadline);
      try {
        const grantedAt = await this.#takeBudget(entry, deadline);
        // The gate drops an aborted task, but lets it run on.
        entry.signal.throwIfAborted();
        if (grantedAt !== null) return this.#passage(places, grantedAt);
      } catch (error) {
        await this.#giveBack(places);
        throw error;
      }
      await this.#giveBack(places);
    }
  }

  #passage(places: Places | null, grantedAt: number): Passage {
    // A call that only its own process counts: the next one need not wait until it was sent.
    if (!places) return { end: this.#leave, left: null };
    return countedPassage(places, { ...this.#deps, grantedAt }, this.#leave);
  }

  async #outlastPause({ signal }: Entry, deadline: number): Promise<void> {
    for (;;) {
      const now = this.#clock.elapsed();
      const pause = this.#pausedUntil - now;
      if (pause <= 0) return;
      if (now + pause > deadline) throw this.#refusal('paused after a rate limit', pause, 'rate_limited');
      await this.#clock.sleep(pause, signal);
    }
  }

  /** The places that all processes share; null where each counts its own calls. */
  async #takePlaces(entry: Entry, deadline: number): Promise<Places | null> {
    const { slots } = this.#deps.group;
    if (slots === null) return null;
    // The places of an exited process expire a little after its call would have ended.
    const inFlight = await this.#takeSlot(this.#deps.rule.name, slots, entry.holdMs + LEAVE_MS, entry, deadline);
    try {
      return {
        inFlight,
        departure: await this.#takeSlot(`${this.#deps.rule.name}/departure`, 1, LEAVE_MS, entry, deadline),
      };
    } catch (error) {
      await inFlight.release();
      throw error;
    }
  }

  async #takeSlot(name: string, limit: number, ttlMs: number, { signal }: Entry, deadline: number): Promise<Slot> {
    const withinMs = deadline - this.#clock.elapsed();
    const policy = { withinMs, everyMs: SLOT_POLL_MS, clock: this.#clock, signal };
    const slot = await waitUntil(() => this.#deps.shared.slot(name, limit, ttlMs), policy);
    if (!slot) throw this.#refusal('too many calls in flight', 1000);
    return slot;
  }

  async #giveBack(places: Places | null): Promise<void> {
    await places?.departure.release();
    await places?.inFlight.release();
  }

  /** Waits for the call's budget. When the call may be sent then; null if that is too late, or if a pause began during the wait. */
  async #takeBudget({ cost, signal, isSpare = false }: Entry, deadline: number): Promise<number | null> {
    const asked = this.#clock.elapsed();
    const wait = await this.#deps.shared.takeBudget(this.#pace(isSpare), cost, Math.max(0, deadline - asked));
    if (wait === null) {
      const detail = `${this.#deps.name}: no request budget left`;
      throw new NoBudgetError(this.#deps.platform, 'unavailable', { detail, retryAfterMs: 1000 });
    }
    this.#askMs = Math.min(this.#clock.elapsed() - asked, this.#askMs + 1);
    if (wait > 0) await this.#clock.sleep(wait, signal);
    const grantedAt = asked + this.#askMs + wait;
    // A grant that is not used in time would be sent together with the next ones: it is discarded.
    const isLate = this.#clock.elapsed() - grantedAt > this.#deps.group.lateMs;
    return isLate || this.#clock.elapsed() < this.#pausedUntil ? null : grantedAt;
  }

  #pace(isSpare: boolean): BudgetRule {
    const isSlow = this.#clock.elapsed() < this.#slowUntil;
    if (!isSlow && !isSpare) return this.#deps.rule;
    const { name, capacity, refillPerSecond } = this.#deps.rule;
    return {
      name,
      capacity: isSpare ? capacity / 2 : capacity,
      refillPerSecond: isSlow ? refillPerSecond / 2 : refillPerSecond,
    };
  }

  #refusal(detail: string, retryAfterMs: number, kind: 'unavailable' | 'rate_limited' = 'unavailable'): NotSentError {
    return new NotSentError(this.#deps.platform, kind, { detail: `${this.#deps.name}: ${detail}`, retryAfterMs });
  }
}
