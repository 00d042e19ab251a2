import type { Clock, Stop } from '../../core/time.ts';
import type { Placement, PlacementMember, SendTogether } from '../../platforms/order-contract.ts';

/** The calls are sent after this time even if a member is missing. */
const WAIT_MS = 2000;

interface Waiting<B> {
  send: SendTogether<B>;
  members: { body: B; resolve: (placement: Placement) => void; reject: (error: unknown) => void }[];
}

/**
 * Orders of one request that are to be sent together. Every member ends with `place` or `leave`. The calls are sent when the last
 * member has done so, or after two seconds: a signed market order must not become old because another order waits.
 */
export class PlacementGroup {
  readonly #accounts = new Map<string, Waiting<unknown>>();
  readonly #stopWaiting: Stop;
  #awaited: number;
  /** The wait is over: an order that comes later is sent at once. */
  #isLate = false;

  constructor(members: number, clock: Clock) {
    this.#awaited = members;
    this.#stopWaiting = clock.timeout(WAIT_MS, () => {
      this.#isLate = true;
      this.#send();
    });
  }

  /** One of the members. It may leave more than once, and after it was placed. */
  member(): PlacementMember {
    let isAwaited = true;
    const leave = (): void => {
      if (!isAwaited) return;
      isAwaited = false;
      this.#awaited -= 1;
      if (this.#awaited <= 0) this.#send();
    };
    return {
      place: <B>(account: string, body: B, send: SendTogether<B>): Promise<Placement> => {
        const waiting = this.#accounts.get(account) ?? { send: send as SendTogether<unknown>, members: [] };
        this.#accounts.set(account, waiting);
        const placement = new Promise<Placement>((resolve, reject) => waiting.members.push({ body, resolve, reject }));
        const isOutside = !isAwaited || this.#isLate;
        leave();
        if (isOutside) this.#send();
        return placement;
      },
      leave,
    };
  }

  #send(): void {
    this.#stopWaiting();
    const accounts = [...this.#accounts.values()];
    this.#accounts.clear();
    for (const { send, members } of accounts) {
      send(members.map(({ body }) => body)).then(
        (placements) => {
          for (const [at, { resolve, reject }] of members.entries()) {
            const placement = placements[at];
            if (placement) resolve(placement);
            else reject(new Error('a placement without a result'));
          }
        },
        (error: unknown) => members.forEach(({ reject }) => reject(error)),
      );
    }
  }
}
