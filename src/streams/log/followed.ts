import type { Clock } from '../../core/time.ts';
import { FOLLOWED_MS, type Shared } from '../../stores/shared/shared.ts';

const CHANNEL = 'trades_followed';

/** Announces to every process that a client follows trades. If a message is lost, trades arrive later; all of them still arrive. */
export const announceFollowed = (shared: Pick<Shared, 'publish'>): void => {
  shared.publish(CHANNEL, '').catch(() => {});
};

/** Whether a client of any process follows trades as they are stored. */
export class FollowedTrades {
  readonly #clock: Clock;
  #announcedAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await shared.subscribe(CHANNEL, () => {
      this.#announcedAt = this.#clock.elapsed();
    });
  }

  get isAny(): boolean {
    return this.#clock.elapsed() - this.#announcedAt < FOLLOWED_MS;
  }
}
