import type { StoredMarket } from '../contract.ts';
import { SocketConnection, type SocketDeps } from './connection.ts';
import type { SocketChannel } from './contract.ts';

const LOOK_MS = 500;
/** A look that comes this late says that the process was stopped, not the platform. */
const LATE_MS = 3000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** A refused key does not become valid by asking again. */
const REFUSED_RETRY_MS = 120_000;
/** Connections that lived longer begin anew with short retries. */
const GOOD_LIFE_MS = 10_000;
/** A connection that brings nothing by then is given up. */
const OVERLAP_MS = 30_000;
/** What a replacement was asked for has come so long after its first data. */
const SETTLED_MS = 2000;

export interface KeeperOptions {
  /** Multiplies silences, ages and retries; tests shorten them. */
  pace?: number;
  /** Called when data comes again after a connection was lost, and at the first data. */
  onReady: () => void;
}

/**
 * Keeps one connection of a channel alive: reconnects with jittered backoff, replaces one that is silent, and rotates by opening the
 * new one before the old one is closed.
 */
export class SocketKeeper {
  reconnects = 0;
  /** Why the last connection ended; null while one is open, and before. */
  lostBecause: string | null = null;
  readonly #deps: SocketDeps;
  readonly #channel: SocketChannel;
  readonly #options: KeeperOptions;
  readonly #pace: number;
  readonly #timer: NodeJS.Timeout;
  #markets: readonly StoredMarket[];
  #current: SocketConnection | null = null;
  #next: SocketConnection | null = null;
  #retryAt = 0;
  #failures = 0;
  #lookedAt = performance.now();
  #isReady = false;
  #isStopping = false;
  #rotateAt = Infinity;
  #lastMessageMs: number | null = null;

  constructor(deps: SocketDeps, channel: SocketChannel, markets: readonly StoredMarket[], options: KeeperOptions) {
    this.#deps = deps;
    this.#channel = channel;
    this.#markets = markets;
    this.#options = options;
    this.#pace = options.pace ?? 1;
    this.#timer = setInterval(() => this.#look(), Math.max(20, LOOK_MS * Math.min(1, this.#pace)));
    this.#look();
  }

  get isOpen(): boolean {
    return this.#current?.isOpen ?? false;
  }

  /** Whether data has come on the present connection and none is overdue. */
  get isLive(): boolean {
    return this.isOpen && this.#isReady;
  }

  /** Unix ms of the last message; null before the first. */
  get lastMessageMs(): number | null {
    return this.#current?.lastMessageMs ?? this.#lastMessageMs;
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    this.#markets = markets;
    for (const connection of [this.#current, this.#next]) connection?.setMarkets(markets);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    await Promise.all([this.#current?.close('stopped'), this.#next?.close('stopped')]);
  }

  #look(): void {
    const now = performance.now();
    const isLate = now - this.#lookedAt > LATE_MS;
    this.#lookedAt = now;
    const current = this.#current;
    if (!current) {
      if (now >= this.#retryAt) this.#connect(now);
      return;
    }
    if (isLate) current.lastByteAt = current.lastDataAt = now;
    const { quietMs } = this.#channel;
    if (now - current.lastByteAt > current.silentMs(this.#pace)) return void current.close('silent');
    if (quietMs !== null && now - current.lastDataAt > quietMs * this.#pace) return void current.close('no data');
    const failure = isLate ? null : current.failure();
    if (failure !== null) return void current.close(failure);
    if (!this.#isReady && current.dataSince !== null) this.#ready();
    this.#rotate(current, now);
  }

  #rotate(current: SocketConnection, now: number): void {
    const next = this.#next;
    if (next && now - (next.dataSince ?? now) > SETTLED_MS * this.#pace) {
      this.#current = next;
      this.#next = null;
      this.#rotateAt = this.#ageFrom(now);
      void current.close('rotated');
    } else if (next?.dataSince === null && now - next.openedAt > OVERLAP_MS * this.#pace) {
      void next.close('no data');
    } else if (!next && now > this.#rotateAt) {
      this.#rotateAt = this.#ageFrom(now);
      this.#next = this.#dial();
    }
  }

  #connect(now: number): void {
    this.#isReady = false;
    this.#rotateAt = this.#ageFrom(now);
    this.#current = this.#dial();
  }

  #dial(): SocketConnection {
    return new SocketConnection(this.#deps, this.#channel, this.#markets, (ended) => this.#ended(ended));
  }

  #ready(): void {
    this.#isReady = true;
    this.lostBecause = null;
    this.#options.onReady();
  }

  #ended(connection: SocketConnection): void {
    if (connection === this.#next) this.#next = null;
    if (connection !== this.#current) return;
    this.#lastMessageMs = connection.lastMessageMs ?? this.#lastMessageMs;
    this.#current = null;
    this.#isReady = false;
    if (this.#isStopping) return;
    const now = performance.now();
    const reason = connection.ended ?? '';
    const { platform, log, observer } = this.#deps;
    this.reconnects += 1;
    this.lostBecause = reason;
    observer.reconnect(platform, this.#channel.name);
    const wasGood = connection.dataSince !== null && now - connection.openedAt > GOOD_LIFE_MS * this.#pace;
    this.#failures = wasGood ? 0 : this.#failures + 1;
    const isRefused = /^refused with 40[13]\b/.test(reason);
    const stepMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures, 10));
    const waitMs = (isRefused ? REFUSED_RETRY_MS : stepMs) * (0.5 + Math.random() / 2) * this.#pace;
    this.#retryAt = now + waitMs;
    log.warn(
      { platform, channel: this.#channel.name, reason, retryMs: Math.round(waitMs) },
      'Socket lost; reconnecting',
    );
  }

  /** Spread, so that connections opened together are not replaced together. */
  #ageFrom(now: number): number {
    return now + this.#channel.rotateMs * this.#pace * (0.9 + Math.random() / 10);
  }
}
