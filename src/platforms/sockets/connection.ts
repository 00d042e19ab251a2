import type { FastifyBaseLogger } from 'fastify';
import { WebSocket } from 'ws';
import type { Platform } from '../../core/model.ts';
import type { StoredMarket } from '../contract.ts';
import { BadFrame, type SocketChannel, type SocketEvent, type SocketObserver, type SocketSession } from './contract.ts';

const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** Frames that wait to be read; a connection with more is dropped, as it lost its order of time. */
const QUEUE_FRAMES = 20_000;
const QUEUE_BYTES = 32 * 1024 * 1024;
/** Other work of the process gets its turn after so long. */
const SLICE_MS = 8;
const HANDSHAKE_MS = 10_000;
const CLOSE_MS = 1000;
const LOG_MS = 10_000;

export interface SocketDeps {
  platform: Platform;
  log: FastifyBaseLogger;
  observer: SocketObserver;
  /** Called with every event, in order. */
  onEvent: (event: SocketEvent) => void;
}

/** One connection from its upgrade to its end. Times are of performance.now(), which no change of the clock moves. */
export class SocketConnection {
  readonly openedAt = performance.now();
  lastByteAt = performance.now();
  lastDataAt = performance.now();
  /** Unix ms of the last message; null before. */
  lastMessageMs: number | null = null;
  hasData = false;
  /** Why it ended; null while it lives. */
  ended: string | null = null;
  readonly #deps: SocketDeps;
  readonly #channel: SocketChannel;
  readonly #session: SocketSession;
  readonly #socket: WebSocket;
  readonly #onEnd: (connection: SocketConnection) => void;
  #queue: string[] = [];
  #next = 0;
  #queuedBytes = 0;
  #isDraining = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #loggedAt = -Infinity;
  #unlogged = 0;

  constructor(
    deps: SocketDeps,
    channel: SocketChannel,
    markets: readonly StoredMarket[],
    onEnd: (connection: SocketConnection) => void,
  ) {
    this.#deps = deps;
    this.#channel = channel;
    this.#onEnd = onEnd;
    this.#session = channel.session(markets, (text) => this.#send(text));
    this.#socket = new WebSocket(channel.url, {
      headers: channel.headers?.() ?? {},
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    });
    this.#socket.on('open', () => this.#open());
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    for (const frame of ['ping', 'pong'] as const) this.#socket.on(frame, () => (this.lastByteAt = performance.now()));
    this.#socket.on('unexpected-response', (_request, response) => {
      response.resume();
      this.#socket.terminate();
      this.#end(`refused with ${response.statusCode}`);
    });
    this.#socket.on('error', (error: Error & { code?: string }) => {
      if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.#bad('a frame is too large');
      this.#end(error.code ?? 'error');
      this.#socket.terminate();
    });
    this.#socket.on('close', (code: number) => this.#end(`closed with ${code}`));
  }

  get isOpen(): boolean {
    return this.ended === null && this.#socket.readyState === WebSocket.OPEN;
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    this.#session.setMarkets(markets);
  }

  /** Ends the connection; nothing is read of it any more. */
  async close(reason: string): Promise<void> {
    this.#end(reason);
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    const cut = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    this.#socket.close(1000);
    await closed.finally(() => clearTimeout(cut));
  }

  #open(): void {
    this.lastByteAt = performance.now();
    const { heartbeat } = this.#channel;
    if (heartbeat) this.#heartbeat = setInterval(() => this.#send(heartbeat.text), heartbeat.everyMs).unref();
    this.#session.start();
  }

  #send(text: string): void {
    if (this.isOpen) this.#socket.send(text);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.ended !== null) return;
    this.lastByteAt = performance.now();
    this.lastMessageMs = Date.now();
    if (isBinary) return this.#bad('a binary frame');
    this.#queue.push(data.toString());
    this.#queuedBytes += data.length;
    if (this.#queue.length - this.#next > QUEUE_FRAMES || this.#queuedBytes > QUEUE_BYTES) {
      void this.close('too many frames wait');
    } else if (!this.#isDraining) {
      this.#isDraining = true;
      setImmediate(() => this.#drain());
    }
  }

  #drain(): void {
    const startedAt = performance.now();
    const first = this.#next;
    while (this.ended === null && this.#next < this.#queue.length && performance.now() - startedAt < SLICE_MS) {
      const frame = this.#queue[this.#next] ?? '';
      this.#next += 1;
      this.#queuedBytes -= Buffer.byteLength(frame);
      this.#read(frame);
    }
    this.#deps.observer.messages(this.#deps.platform, this.#channel.name, this.#next - first);
    if (this.ended === null && this.#next < this.#queue.length) {
      setImmediate(() => this.#drain());
      return;
    }
    this.#isDraining = false;
    this.#queue = [];
    this.#next = 0;
    this.#queuedBytes = 0;
  }

  #read(frame: string): void {
    try {
      if (!this.#session.take(frame, this.#deps.onEvent)) return;
      this.hasData = true;
      this.lastDataAt = performance.now();
    } catch (error) {
      // A defect of an adapter must not end the process either.
      this.#bad(error instanceof BadFrame ? error.message : String(error));
    }
  }

  #bad(reason: string): void {
    const { platform, observer, log } = this.#deps;
    observer.badFrame(platform, this.#channel.name);
    this.#unlogged += 1;
    if (performance.now() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = performance.now();
    const frames = this.#unlogged;
    this.#unlogged = 0;
    log.warn({ platform, channel: this.#channel.name, frames, reason: reason.slice(0, 200) }, 'skipped bad frames');
  }

  #end(reason: string): void {
    if (this.ended !== null) return;
    this.ended = reason;
    clearInterval(this.#heartbeat);
    this.#queue = [];
    this.#next = 0;
    this.#onEnd(this);
  }
}
