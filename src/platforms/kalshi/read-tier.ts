import { z } from 'zod';
import { HOUR_MS } from '../../core/time.ts';
import type { PlatformReply } from '../http/request.ts';
import { BASIC_READ_REFILL, CALL_COST } from './limits.ts';

/** Tokens a second that Kalshi grants to reads of an account. */
const AccountLimits = z.object({ read: z.object({ refill_rate: z.number().positive() }) });

/** Tokens of a signed read: fewer for an account above Basic. The tier is read hourly, and is Basic until it is known. */
export class ReadTier {
  readonly #read: () => Promise<PlatformReply>;
  readonly #now: () => number;
  #dueMs = -Infinity;
  /** Tokens of one call. */
  cost = CALL_COST;

  constructor(read: () => Promise<PlatformReply>, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** Called after each signed read that Kalshi accepted. */
  refresh(): void {
    if (this.#now() < this.#dueMs) return;
    this.#dueMs = this.#now() + HOUR_MS;
    this.#read().then(
      ({ json }) => this.#use(AccountLimits.safeParse(json).data?.read.refill_rate ?? BASIC_READ_REFILL),
      () => {},
    );
  }

  #use(refill: number): void {
    this.cost = Math.max(1, Math.ceil((CALL_COST * BASIC_READ_REFILL) / refill));
  }
}
