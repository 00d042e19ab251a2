import type { Stop } from '../../core/time.ts';
import type { StoredMarket } from '../contract.ts';
import { SocketConnection, type SocketDeps } from './connection.ts';
import type { SocketChannel } from './contract.ts';

const LOOK_MS = 500;
/** A check that is this late means that the process was suspended, not that the platform is silent. */
const LATE_MS = 3000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** A rejected key does not become valid by retrying soon. */
const REFUSED_RETRY_MS = 120_000;
/** After a connection of this duration, retries start with short waits again. */
const GOOD_LIFE_MS = 10_000;
/** A new connection without data is closed after this time. */
const OVERLAP_MS = 30_000;
/** If this many checks should have found data and none did, the connection is dead. */
const MISSED_LOOKS = 15;
/** The rate of data is known after this many checks. */
const KNOWN_LOOKS = 30;
/** After this many checks older ones count half: how often data arrived hours ago matters little. */
const MOST_LOOKS = 1200;
/** If silence is normal, a connection without data for this long is checked. */
const QUIET_MS = 20_000;
/** By this time after its first data, a replacement has received its subscriptions' data. */
const SETTLED_MS = 2000;

const spread = (): number => 0.5 + Math.random() / 2;

interface KeeperOptions {
  /** Multiplies silences, ages and retries; tests shorten them. */
  pace?: number;
  /** Called at the first data, and when data arrives again after a lost connection. */
  onReady: () => void;
  /** Called if the platform rejects the credential: the keeper then ends. Absent: it tries again after a long wait. */
  onRefused?: (reason: string) => void;
}

/**
 * Keeps one connection of a channel open: reconnects with jittered backoff, replaces silent connections, and rotates by opening the new
 * one before closing the old one.
 */
export class SocketKeeper {
  reconnects = 0;
  /** Why the last connection ended; null while one is open, and before. */
  lostBecause: string | null = null;
  readonly #deps: SocketDeps;
  readonly #channel: SocketChannel;
  readonly #options: KeeperOptions;
  readonly #pace: number;
  readonly #stopLooking: Stop;
  #markets: readonly StoredMarket[];
  #current: SocketConnection | null = null;
  #next: SocketConnection | null = null;
  #retryAt = 0;
  #failures = 0;
  #lookedAt: number;
  #isReady = false;
  #isStopping = false;
  #rotateAt = Infinity;
  #lastMessageMs: number | null = null;
  /** Checks since the first data of the current connection: all, those that found data, and those since the last data. */
  #looks = { all: 0, busy: 0, idle: 0 };
  #nextFailures = 0;

  constructor(deps: SocketDeps, channel: SocketChannel, markets: readonly StoredMarket[], options: KeeperOptions) {
    this.#deps = deps;
    this.#lookedAt = deps.clock.elapsed();
    this.#channel = channel;
    this.#markets = markets;
    this.#options = options;
    this.#pace = options.pace ?? 1;
    this.#stopLooking = this.#deps.clock.every(Math.max(20, LOOK_MS * Math.min(1, this.#pace)), () => this.#look());
    this.#look();
  }

  get isOpen(): boolean {
    return this.#current?.isOpen ?? false;
  }

  /** Whether data has arrived on the current connection and none is overdue. */
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

  /** Closes the current connection, which the caller knows to be useless; the next one is opened at once. */
  replace(reason: string): void {
    void this.#current?.close(reason);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopLooking();
    await Promise.all([this.#current?.close('stopped'), this.#next?.close('stopped')]);
  }

  #look(): void {
    const now = this.#deps.clock.elapsed();
    const lookedAt = this.#lookedAt;
    const isLate = now - lookedAt > LATE_MS;
    this.#lookedAt = now;
    const current = this.#current;
    if (current && current.dataSince !== null) {
      this.#looks.all += 1;
      const isBusy = current.lastDataAt > lookedAt;
      if (isBusy) this.#looks.busy += 1;
      this.#looks.idle = isBusy ? 0 : this.#looks.idle + 1;
      const { all, busy, idle } = this.#looks;
      if (all > MOST_LOOKS && isBusy) this.#looks = { all: all / 2, busy: busy / 2, idle };
    }
    if (!current) {
      if (now >= this.#retryAt) this.#connect(now);
      return;
    }
    if (isLate) current.lastByteAt = current.lastDataAt = now;
    if (now - current.lastByteAt > current.silentMs(this.#pace)) return void current.close('silent');
    if (!isLate && this.#isQuiet(current, now)) return void current.close('no data');
    const failure = isLate ? null : current.failure();
    if (failure !== null) return void current.close(failure);
    if (!this.#isReady && current.dataSince !== null) this.#ready();
    this.#rotate(current, now);
  }

  /** Whether it was silent for too long, by its channel's limit or by how often it had data before. */
  #isQuiet(current: SocketConnection, now: number): boolean {
    const { quietMs, isUneven = quietMs === null } = this.#channel;
    const silence = now - current.lastDataAt;
    if (silence <= (quietMs ?? QUIET_MS) * this.#pace) return false;
    // Nothing is subscribed.
    if (this.#channel.marketsPerSocket !== null && this.#markets.length === 0) return false;
    if (!isUneven) return true;
    if (current.dataSince === null) return quietMs !== null;
    const { all, busy, idle } = this.#looks;
    const before = all - idle;
    return before > KNOWN_LOOKS && (idle * busy) / before > MISSED_LOOKS;
  }

  #rotate(current: SocketConnection, now: number): void {
    const next = this.#next;
    if (next && now - (next.dataSince ?? now) > SETTLED_MS * this.#pace) {
      this.#useNext(now);
      void current.close('rotated');
    } else if (next?.dataSince === null && now - next.openedAt > OVERLAP_MS * this.#pace) {
      void next.close('no data');
    } else if (!next && now > this.#rotateAt) {
      this.#next = this.#dial();
    }
  }

  #connect(now: number): void {
    this.#isReady = false;
    this.#next = this.#dial();
    this.#useNext(now);
  }

  /** The replacement becomes the current connection, if there is one. */
  #useNext(now: number): void {
    this.#current = this.#next;
    this.#next = null;
    this.#nextFailures = 0;
    this.#looks = { all: 0, busy: 0, idle: 0 };
    this.#rotateAt = this.#ageFrom(now);
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
    if (connection === this.#next) {
      this.#next = null;
      // The current one stays open until it is closed: the next attempt comes soon, not after a whole rotation.
      this.#nextFailures += 1;
      this.#rotateAt = this.#deps.clock.elapsed() + this.#waitMs(this.#nextFailures);
    }
    if (connection !== this.#current) return;
    this.#lastMessageMs = connection.lastMessageMs ?? this.#lastMessageMs;
    this.#current = null;
    this.#isReady = false;
    if (this.#isStopping) return;
    const now = this.#deps.clock.elapsed();
    const reason = connection.ended ?? '';
    const { platform, log, observer } = this.#deps;
    this.reconnects += 1;
    this.lostBecause = reason;
    observer.reconnect(platform, this.#channel.name);
    const wasGood = connection.dataSince !== null && now - connection.openedAt > GOOD_LIFE_MS * this.#pace;
    this.#failures = wasGood ? 0 : this.#failures + 1;
    if (connection.isRefused && this.#options.onRefused) {
      void this.stop();
      return this.#options.onRefused(reason);
    }
    // A third connection would end with the next rotation, and its books with it.
    this.#useNext(now);
    const waitMs = connection.isRefused ? REFUSED_RETRY_MS * spread() * this.#pace : this.#waitMs(this.#failures);
    this.#retryAt = now + waitMs;
    log.warn(
      { platform, channel: this.#channel.name, reason, retryMs: this.#current ? 0 : Math.round(waitMs) },
      'Socket lost; reconnecting',
    );
  }

  /** Wait before the next attempt, by the number of failures. */
  #waitMs(failures: number): number {
    return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10)) * spread() * this.#pace;
  }

  /** Randomized, so that connections opened together are not replaced together. */
  #ageFrom(now: number): number {
    return now + this.#channel.rotateMs * this.#pace * (0.9 + Math.random() / 10);
  }
}
