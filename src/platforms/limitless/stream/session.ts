import type { Clock } from '../../../core/time.ts';
import type { StoredMarket } from '../../contract.ts';
import type { Emit, SocketSession } from '../../sockets/contract.ts';
import { eventPacket, JOIN, PONG, readPacket } from './packets.ts';

/** Time limit for the answer to a join or a subscription. */
const ANSWER_MS = 15_000;

/** A connection to the namespace: joins it, answers pings, subscribes, and passes events on. */
export abstract class NamespaceSession implements SocketSession {
  silentMs?: number;
  readonly #send: (text: string) => void;
  protected readonly clock: Clock;
  #isJoined = false;
  /** By the clock's elapsed(); null if no answer is pending. */
  #askedAt: number | null = null;
  #failure: string | null = null;

  constructor(send: (text: string) => void, clock: Clock) {
    this.#send = send;
    this.clock = clock;
  }

  /** What to subscribe to; null for nothing. */
  protected abstract subscription(): { name: string; payload?: object } | null;

  /** Handles an event; true for data. */
  protected abstract event(name: string, payload: unknown, emit: Emit): boolean;

  /** Handles a rejection, as text; false if the connection must be replaced. */
  protected refused?(text: string, emit: Emit): boolean;

  abstract setMarkets(markets: readonly StoredMarket[]): void;

  start(): void {
    this.#askedAt = this.clock.elapsed();
  }

  take(frame: string, emit: Emit): boolean {
    const packet = readPacket(frame);
    if (packet.kind === 'event') return this.#event(packet.name, packet.payload, emit);
    if (packet.kind === 'ping') this.#send(PONG);
    else if (packet.kind === 'ended') this.#failure = packet.reason;
    else if (packet.kind === 'open' && this.silentMs === undefined) {
      this.silentMs = packet.silentMs;
      this.#send(JOIN);
    } else if (packet.kind === 'joined' && !this.#isJoined) {
      this.#isJoined = true;
      return !this.subscribe();
    }
    return false;
  }

  failure(): string | null {
    if (this.#failure !== null) return this.#failure;
    const isLate = this.#askedAt !== null && this.clock.elapsed() - this.#askedAt > ANSWER_MS;
    return isLate ? 'no answer' : null;
  }

  /** Subscribes, once the namespace is joined; false if there is nothing to subscribe to. */
  protected subscribe(): boolean {
    if (!this.#isJoined) return true;
    const wanted = this.subscription();
    this.#askedAt = wanted && this.clock.elapsed();
    if (wanted) this.#send(eventPacket(wanted.name, wanted.payload));
    return wanted !== null;
  }

  protected answered(): void {
    this.#askedAt = null;
  }

  #event(name: string, payload: unknown, emit: Emit): boolean {
    if (name !== 'exception' && name !== 'error') return this.event(name, payload, emit);
    // Its shape does not matter.
    const text = JSON.stringify(payload) ?? '';
    if (this.refused?.(text, emit)) return true;
    this.#failure = `${name}: ${text.slice(0, 100)}`;
    return false;
  }
}
