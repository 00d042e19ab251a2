import type { Platform } from '../../core/model.ts';
import type { Clock } from '../../core/time.ts';
import type { Shared } from '../../stores/shared/shared.ts';
import type { SocketStatus } from './contract.ts';

const CHANNEL = 'socket-states';
/** A status is published at least this often. */
export const STATUS_MS = 2000;
/** An older status belongs to a process that has ended. */
const EXPIRES_MS = 10_000;

export const publishSocketStatus = (shared: Pick<Shared, 'publish'>, status: SocketStatus): Promise<void> =>
  shared.publish(CHANNEL, JSON.stringify(status));

/** States of sockets as reported by the processes that hold them: this one and, through Redis, the others. */
export class SocketStates {
  readonly #clock: Clock;
  readonly #known = new Map<Platform, { status: SocketStatus; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await shared.subscribe(CHANNEL, (message) => {
      const status = JSON.parse(message) as SocketStatus;
      this.#known.set(status.platform, { status, at: this.#clock.elapsed() });
    });
  }

  /** null if no process reports the platform's sockets. */
  of(platform: Platform): SocketStatus | null {
    const known = this.#known.get(platform);
    return known && this.#clock.elapsed() - known.at < EXPIRES_MS ? known.status : null;
  }
}
