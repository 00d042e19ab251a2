import type { Clock } from '../../core/time.ts';
import type { BudgetRule, Shared, Slot } from '../../stores/shared/shared.ts';

/** A platform learns of a closed connection this much later, and counts its call as in flight until then. */
const UNSEEN_END_MS = 500;

/** The right to send one call, from its grant to its end. */
export interface Passage {
  /** To be called when the call is written to its connection; absent if that does not matter. */
  sent?(): void;
  /** The call is over, sent or not; `answered`: whether the platform's answer ended it. */
  end(answered: boolean): void;
  /** Resolves when the next call may ask for its grant; null if it may at once. */
  readonly left: Promise<void> | null;
}

/** What a call holds where all processes count together: its place in flight, and the only place to leave from. */
export interface Places {
  inFlight: Slot;
  departure: Slot;
}

/**
 * The passage of a call whose spacing counts from its sending: the next call waits until this one was sent, and the delay of this one (a
 * slow connection, a busy process) is taken from the budget too.
 */
export function countedPassage(
  { inFlight, departure }: Places,
  { shared, clock, rule, grantedAt }: { shared: Shared; clock: Clock; rule: BudgetRule; grantedAt: number },
  leave: () => void,
): Passage {
  let next: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    next = resolve;
  });
  let state: 'waiting' | 'sent' | 'ended' = 'waiting';
  const depart = async (lateMs: number): Promise<void> => {
    const tokens = Math.min(rule.capacity, (lateMs * rule.refillPerSecond) / 1000);
    if (tokens > 0) await shared.takeBudget(rule, tokens, Number.MAX_SAFE_INTEGER);
    await departure.release();
  };
  const free = (): void => {
    leave();
    void inFlight.release();
  };
  return {
    left,
    sent() {
      if (state !== 'waiting') return;
      state = 'sent';
      void depart(clock.elapsed() - grantedAt).finally(() => next?.());
    },
    end(answered) {
      if (state === 'waiting') void departure.release().finally(() => next?.());
      if (state === 'sent' && !answered) clock.timeout(UNSEEN_END_MS, free);
      else free();
      state = 'ended';
    },
  };
}
