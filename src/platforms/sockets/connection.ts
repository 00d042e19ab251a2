import type { ClientRequest, IncomingMessage } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { WebSocket } from 'ws';
import { PlatformError } from '../../core/errors.ts';
import type { Platform } from '../../core/model.ts';
import type { Clock, Stop } from '../../core/time.ts';
import type { StoredMarket } from '../contract.ts';
import { BadFrame, type SocketChannel, type SocketEvent, type SocketObserver, type SocketSession } from './contract.ts';
import { refusalOf } from './refusal.ts';

/** The largest frame, unless the channel has larger ones. */
const FRAME_BYTES = 4 * 1024 * 1024;
/** Unread frames; a connection with more is closed, because it is too far behind. */
const QUEUE_FRAMES = 20_000;
const QUEUE_BYTES = 32 * 1024 * 1024;
/** Yields to other work of the process after this time. */
const SLICE_MS = 8;
/** Handled frames are removed from the queue once there are more than this many, and more than those that wait. */
const HANDLED_FRAMES = 1000;
const HANDSHAKE_MS = 10_000;
const CLOSE_MS = 1000;
const LOG_MS = 10_000;

export interface SocketDeps {
  platform: Platform;
  clock: Clock;
  log: FastifyBaseLogger;
  observer: SocketObserver;
  /** Called with every event, in order, and its connection. */
  onEvent: (event: SocketEvent, connection: SocketConnection) => void;
  /** Called when a connection has ended, for any reason. */
  onEnd: (connection: SocketConnection) => void;
}

/** One connection from its upgrade to its end. Times without a unit are the clock's elapsed(). */
export class SocketConnection {
  readonly openedAt: number;
  lastByteAt: number;
  lastDataAt: number;
  /** Unix ms of the last message; null before. */
  lastMessageMs: number | null = null;
  /** Unix ms of the receipt of the current frame, or of the last one. */
  frameMs = 0;
  /** When data first arrived; null before. */
  dataSince: number | null = null;
  /** Why it ended; null while it is open. */
  ended: string | null = null;
  readonly #deps: SocketDeps;
  readonly #clock: Clock;
  readonly #channel: SocketChannel;
  readonly #session: SocketSession;
  readonly #socket: WebSocket;
  readonly #onEnd: (connection: SocketConnection) => void;
  readonly #emit = (event: SocketEvent): void => this.#deps.onEvent(event, this);
  #queue: { text: string; atMs: number }[] = [];
  #next = 0;
  #queuedBytes = 0;
  #isDraining = false;
  #isUnauthorized = false;
  #lastDataMs: number | null = null;
  #endHeartbeat: Stop | undefined;
  #stopSettling: Stop | undefined;
  #loggedAt = -Infinity;
  #unlogged = 0;

  constructor(
    deps: SocketDeps,
    channel: SocketChannel,
    markets: readonly StoredMarket[],
    onEnd: (connection: SocketConnection) => void,
  ) {
    this.#deps = deps;
    this.#clock = deps.clock;
    this.openedAt = this.lastByteAt = this.lastDataAt = deps.clock.elapsed();
    this.#channel = channel;
    this.#onEnd = onEnd;
    this.#session = channel.session(markets, (text) => this.#send(text), deps.clock);
    this.#socket = new WebSocket(channel.url, {
      finishRequest: (request) => {
        this.#sign(request).catch((error: Error) => this.#unsigned(request, error));
      },
      maxPayload: channel.frameBytes ?? FRAME_BYTES,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    });
    this.#socket.on('open', () => this.#open());
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    for (const frame of ['ping', 'pong'] as const)
      this.#socket.on(frame, () => (this.lastByteAt = this.#clock.elapsed()));
    this.#socket.on('unexpected-response', (_request, response) => void this.#refused(response));
    this.#socket.on('error', (error: Error & { code?: string }) => {
      if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.#bad('a frame is too large');
      this.#end(error.code ?? 'error');
      this.#socket.terminate();
    });
    this.#socket.on('close', (code: number) => this.#end(`closed with ${code}`));
  }

  /** Unix ms up to which the received data is complete; if silence is normal, pings prove it. */
  get knownToMs(): number {
    return (this.#channel.quietMs === null ? this.lastMessageMs : this.#lastDataMs) ?? this.#clock.now();
  }

  /** Longest silence before the connection is replaced; the server's announced interval is not multiplied by `pace`. */
  silentMs(pace: number): number {
    return this.#session.silentMs ?? this.#channel.silentMs * pace;
  }

  /** Why an open connection must be replaced; null if it works. */
  failure(): string | null {
    return this.#session.failure?.() ?? null;
  }

  /** Whether it ended because the platform rejects the credential. */
  get isRefused(): boolean {
    return (
      this.#isUnauthorized || (this.#session.isRefused ?? false) || /^refused with 40[13]\b/.test(this.ended ?? '')
    );
  }

  async #refused(response: IncomingMessage): Promise<void> {
    const reason = await refusalOf(response, this.#clock);
    this.#end(reason);
    this.#socket.terminate();
  }

  async #sign(request: ClientRequest): Promise<void> {
    const headers = await this.#channel.headers?.();
    for (const [name, value] of Object.entries(headers ?? {})) request.setHeader(name, value);
    request.end();
  }

  /** The headers failed: what they need was refused, or could not be read. */
  #unsigned(request: ClientRequest, error: Error): void {
    if (error instanceof PlatformError) {
      this.#isUnauthorized = error.kind === 'unauthorized';
      this.#end(error.kind);
    }
    request.destroy(error);
  }

  get isOpen(): boolean {
    return this.ended === null && this.#socket.readyState === WebSocket.OPEN;
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    this.#session.setMarkets(markets);
    this.#settleSoon();
  }

  /** Call it when a polled book contradicts the market's: its whole book is requested. */
  doubt(ref: string): void {
    if (!this.isOpen) return;
    this.#session.doubt?.(ref);
    this.#settleSoon();
  }

  /** Closes the connection; no further frame is handled. */
  async close(reason: string): Promise<void> {
    this.#end(reason);
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    const stop = this.#clock.timeout(CLOSE_MS, () => this.#socket.terminate());
    this.#socket.close(1000);
    await closed.finally(stop);
  }

  #open(): void {
    this.lastByteAt = this.#clock.elapsed();
    const { heartbeat } = this.#channel;
    if (heartbeat) this.#endHeartbeat = this.#clock.every(heartbeat.everyMs, () => this.#send(heartbeat.text));
    this.#session.start();
  }

  #send(text: string): void {
    if (this.isOpen) this.#socket.send(text);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.ended !== null) return;
    this.lastByteAt = this.#clock.elapsed();
    const atMs = this.#clock.now();
    this.lastMessageMs = atMs;
    if (isBinary) return this.#bad('a binary frame');
    this.#queue.push({ text: data.toString(), atMs });
    this.#queuedBytes += data.length;
    if (this.#queue.length - this.#next > QUEUE_FRAMES || this.#queuedBytes > QUEUE_BYTES) {
      void this.close('too many frames wait');
    } else if (!this.#isDraining) {
      this.#isDraining = true;
      setImmediate(() => this.#drain());
    }
  }

  #drain(): void {
    const startedAt = this.#clock.elapsed();
    let handled = 0;
    while (this.ended === null && this.#next < this.#queue.length && this.#clock.elapsed() - startedAt < SLICE_MS) {
      const { text, atMs } = this.#queue[this.#next] as { text: string; atMs: number };
      this.#next += 1;
      handled += 1;
      this.#queuedBytes -= Buffer.byteLength(text);
      this.frameMs = atMs;
      this.#read(text);
    }
    this.#deps.observer.messages(this.#deps.platform, this.#channel.name, handled);
    if (this.#next > HANDLED_FRAMES && this.#next > this.#queue.length / 2) {
      this.#queue.splice(0, this.#next);
      this.#next = 0;
    }
    if (this.ended === null && this.#next < this.#queue.length) {
      setImmediate(() => this.#drain());
      return;
    }
    this.#isDraining = false;
    this.#queue = [];
    this.#next = 0;
    this.#queuedBytes = 0;
    this.#settle();
  }

  /** A busy process may have unread data in the receive buffer. It is read first. */
  #settleSoon(): void {
    setImmediate(() => this.#settle());
  }

  #settle(): void {
    if (!this.isOpen || this.#isDraining) return;
    this.#stopSettling?.();
    try {
      const waitMs = this.#session.settle?.(this.#emit) ?? null;
      if (waitMs === null) return;
      this.#stopSettling = this.#clock.timeout(waitMs, () => this.#settleSoon());
    } catch (error) {
      this.#bad(String(error));
    }
  }

  #read(frame: string): void {
    try {
      const isData = this.#session.take(frame, this.#emit);
      this.#observeDelay();
      if (!isData) return;
      this.lastDataAt = this.#clock.elapsed();
      this.dataSince ??= this.lastDataAt;
      this.#lastDataMs = this.frameMs;
    } catch (error) {
      // A bug in an adapter must not end the process either.
      this.#bad(error instanceof BadFrame ? error.message : String(error));
    }
  }

  #observeDelay(): void {
    const { sentMs } = this.#session;
    if (sentMs === undefined) return;
    // A platform's clock may be ahead of ours.
    const seconds = Math.max(0, this.frameMs - sentMs) / 1000;
    this.#deps.observer.delay(this.#deps.platform, this.#channel.name, seconds);
  }

  #bad(reason: string): void {
    const { platform, observer, log } = this.#deps;
    observer.badFrame(platform, this.#channel.name);
    this.#unlogged += 1;
    if (this.#clock.elapsed() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = this.#clock.elapsed();
    const frames = this.#unlogged;
    this.#unlogged = 0;
    log.warn(
      { platform, channel: this.#channel.name, frames, reason: reason.slice(0, 200) },
      'Skipped invalid frames of a socket',
    );
  }

  #end(reason: string): void {
    if (this.ended !== null) return;
    this.ended = reason;
    this.#endHeartbeat?.();
    this.#stopSettling?.();
    this.#queue = [];
    this.#next = 0;
    this.#onEnd(this);
    this.#deps.onEnd(this);
  }
}
