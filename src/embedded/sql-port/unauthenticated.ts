import type { Socket } from 'node:net';
import { type Stop, systemClock } from '../../core/time.ts';

/** Half of all connections: the other half is for those that have logged in. */
const MOST_WAITING = 256;
const LOGIN_WITHIN_MS = 10_000;

/** Connections that have not logged in yet: a bounded number for a bounded time. */
export class UnauthenticatedSockets {
  /** Longest waiting first. */
  readonly #waiting = new Map<Socket, Stop>();

  add(socket: Socket): void {
    const [oldest] = this.#waiting.keys();
    // A client with a password sends it at once: the connection that was silent longest is closed.
    if (oldest && this.#waiting.size >= MOST_WAITING) this.#end(oldest);
    this.#waiting.set(
      socket,
      systemClock.timeout(LOGIN_WITHIN_MS, () => this.#end(socket)),
    );
    socket.once('close', () => this.admit(socket));
  }

  /** From here on the server's own time-outs apply to the connection. */
  admit(socket: Socket): void {
    this.#waiting.get(socket)?.();
    this.#waiting.delete(socket);
  }

  #end(socket: Socket): void {
    this.admit(socket);
    socket.destroy();
  }
}
