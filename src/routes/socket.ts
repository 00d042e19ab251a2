import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { ApiError, badRequest, envelope } from '../core/errors.ts';
import { textParam } from '../core/fields.ts';
import { isForeignOrigin, requireScope } from '../http/auth.ts';
import { toFailure } from '../http/error-handlers.ts';
import { inputReader, type Values } from '../http/read-input.ts';
import type { Upgrades } from '../http/upgrades.ts';
import { enumParam, eventIdParam, integerParam } from '../schemas/parameters.ts';
import { addressesParam, floorParam, platformsParam, sinceParam, unifiedIdsParam } from '../schemas/streams.ts';
import type { Reader } from '../streams/connections.ts';
import { CHANNELS, marketNames } from '../streams/filter.ts';
import { startPositions } from '../streams/start.ts';
import { WsStream } from '../streams/ws-stream.ts';
import { watchedGapParams } from './matches/watched-gaps.ts';
import type { Services } from './services.ts';
import { mayRead, mayTrade, readerOf, requireMayTrade, streamFilter, streamIssues } from './stream.ts';

const AUTH_MS = 5000;
/** Messages of one client per second, and burst; each 64 KiB started count as one. Further ones are answered 429. */
const MESSAGES_A_SECOND = 50;
const MESSAGES_AT_ONCE = 200;
const MESSAGE_UNIT = 64 * 1024;
/** After this many rejections the connection is closed. */
const REFUSED_MESSAGES = 1000;
/** Limits of queued messages and their bytes. */
const WAITING_MESSAGES = 300;
const WAITING_BYTES = 2 * 1024 * 1024;
/** For a client that has not sent its key. */
const STRANGER_BYTES = 4096;
const MAX_SUBSCRIPTIONS = 100;

const SUBSCRIBE = {
  channel: enumParam(CHANNELS),
  platform: platformsParam().optional(),
  market_ids: unifiedIdsParam().optional(),
  event_id: eventIdParam().optional(),
  min_size: floorParam('contracts'),
  min_notional: floorParam('USD'),
  addresses: addressesParam().optional(),
  ...watchedGapParams,
  depth: integerParam(1, 1000).optional().describe('Levels per side, for the channel books'),
  since: sinceParam().optional(),
};
type Subscribe = Values<typeof SUBSCRIBE>;
const readSubscribe = inputReader({ body: SUBSCRIBE }, (body, failing) => {
  const { channel, ...asked } = body as Partial<Subscribe>;
  return streamIssues({ ...asked, channels: channel && [channel] }, failing);
});
const readAuth = inputReader({ body: { key: textParam(200) } });
const readUnsubscribe = inputReader({ body: { sid: z.int({ error: 'the sid of a subscription' }) } });

const Message = z
  .looseObject({ op: z.string(), id: z.union([z.string().max(100), z.number()]).nullish() })
  .transform(({ id, ...message }) => ({ ...message, id: id ?? undefined }));

/** GET /v1/api/ws: the same events over a WebSocket, several subscriptions on one connection. */
export function socketRoutes(app: FastifyInstance, services: Services, upgrades: Upgrades): void {
  app.get('/v1/api/ws', { config: { auth: 'none' }, schema: { hide: true } }, async (request, reply) => {
    if (request.refusal) throw request.refusal;
    if (!upgrades.isAsked(request)) {
      reply.header('upgrade', 'websocket');
      throw new ApiError(426, 'A WebSocket is required', { resolution: 'Connect with a WebSocket client.' });
    }
    const { caller } = request;
    if (caller?.kind === 'key') requireScope(caller, 'read');
    // A browser sends the cookie for any page that opens the socket.
    if (caller?.kind === 'session' && isForeignOrigin(request, services.config)) {
      throw new ApiError(403, 'Cross-site WebSocket refused', {
        resolution: "Connect from the service's own origin, or with an API key.",
      });
    }
    const session = new SocketSession(services, request);
    if (caller) session.admit(readerOf(services, caller, request));
    const socket = await upgrades.accept(request, reply.getHeaders());
    reply.hijack();
    session.run(socket);
    return reply;
  });
}

/** One client's side of a WebSocket: its messages are answered one by one, in order. */
class SocketSession {
  readonly #services: Services;
  readonly #request: FastifyRequest;
  #reader: Reader | null = null;
  #socket: WebSocket | null = null;
  #stream: WsStream | null = null;
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingBytes = 0;
  /** Messages that are allowed now; below zero after rejections. */
  #allowance = MESSAGES_AT_ONCE;
  #countedMs: number;

  constructor(services: Services, request: FastifyRequest) {
    this.#services = services;
    this.#request = request;
    this.#countedMs = services.clock.elapsed();
  }

  admit(reader: Reader): void {
    this.#reader = reader;
  }

  run(socket: WebSocket): void {
    this.#socket = socket;
    socket.on('error', () => socket.terminate());
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    // Messages wait until a connection slot is taken.
    if (this.#reader) this.#turn = this.#open(this.#reader);
    const stop = this.#services.clock.timeout(AUTH_MS, () => {
      if (!this.#reader) socket.close(1008, 'No key received within 5 s');
    });
    socket.once('close', stop);
  }

  async #open(reader: Reader): Promise<void> {
    this.#reader = reader;
    const { streams } = this.#services;
    const stream = new WsStream(streams, reader, this.#socket as WebSocket, this.#request.raw.socket);
    try {
      await streams.connections.add(stream);
    } catch (error) {
      this.#refuse(undefined, error);
      this.#socket?.close(1013, 'Too many streams');
      return;
    }
    if (!this.#isOpen) return streams.connections.remove(stream);
    this.#stream = stream;
    void stream.run();
  }

  #take(data: RawData, isBinary: boolean): void {
    const text = isBinary ? '' : String(data);
    const now = this.#services.clock.elapsed();
    const regained = ((now - this.#countedMs) / 1000) * MESSAGES_A_SECOND;
    this.#countedMs = now;
    this.#allowance =
      Math.min(MESSAGES_AT_ONCE, this.#allowance + regained) - Math.ceil((text.length + 1) / MESSAGE_UNIT);
    if (this.#allowance < -REFUSED_MESSAGES) return this.#socket?.close(1008, 'Too many messages');
    if (!this.#reader && text.length > STRANGER_BYTES) return this.#socket?.close(1009, 'The key comes first');
    const isFull = this.#waiting >= WAITING_MESSAGES || this.#waitingBytes + text.length > WAITING_BYTES;
    if (this.#allowance < 0 || isFull) return this.#refuse(idOf(text), tooManyMessages());
    this.#waiting += 1;
    this.#waitingBytes += text.length;
    this.#turn = this.#turn
      .then(() => this.#answer(text))
      .finally(() => {
        this.#waiting -= 1;
        this.#waitingBytes -= text.length;
      });
  }

  get #isOpen(): boolean {
    return this.#socket?.readyState === this.#socket?.OPEN;
  }

  async #answer(text: string): Promise<void> {
    let id: string | number | undefined;
    try {
      const message = messageOf(text);
      ({ id } = message);
      await this.#run(message);
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  async #run({ op, id, ...given }: z.output<typeof Message>): Promise<void> {
    // Clients in typed languages send null for absent values.
    const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    if (op === 'ping') return this.#send({ op: 'pong', id });
    if (op === 'auth') return this.#auth(id, body);
    const stream = this.#stream;
    if (!stream) throw new ApiError(401, 'Not authenticated', { resolution: 'Send {"op":"auth","key":"pk_…"} first.' });
    if (op === 'subscribe') return this.#subscribe(stream, id, body);
    if (op === 'unsubscribe') {
      const { sid } = readUnsubscribe({ body }).body;
      if (!stream.unsubscribe(sid)) {
        throw new ApiError(404, 'Subscription not found', { resolution: 'Send the sid of an open subscription.' });
      }
      return this.#send({ op: 'unsubscribed', id, sid });
    }
    const expected = 'auth, subscribe, unsubscribe or ping';
    throw badRequest([{ field: 'op', expected, received: JSON.stringify(op.slice(0, 40)) }]);
  }

  async #auth(id: string | number | undefined, body: object): Promise<void> {
    const { key } = readAuth({ body }).body;
    if (this.#stream) throw new ApiError(409, 'Already authenticated', { resolution: 'Open another connection.' });
    const { ip } = this.#request;
    const caller = await this.#services.apiKeys.find(key, ip);
    if (!this.#isOpen) return;
    if (!caller) {
      throw new ApiError(401, 'Invalid API key', { resolution: 'Send a key created at POST /v1/api/auth/api-keys.' });
    }
    requireScope(caller, 'read');
    const { userId, tier, keyId } = caller;
    this.#send({ op: 'authenticated', id });
    const isAdmitted = (): boolean | Promise<boolean> => mayRead(this.#services, key, ip);
    await this.#open({ userId, tier, admission: keyId, isAdmitted, mayTrade: mayTrade(caller) });
  }

  async #subscribe(stream: WsStream, id: string | number | undefined, body: object): Promise<void> {
    const { channel, ...asked } = readSubscribe({ body }).body;
    if (stream.subscriptions >= MAX_SUBSCRIPTIONS) {
      throw new ApiError(429, 'Too many subscriptions', {
        resolution: 'Unsubscribe first.',
        errorText: `${MAX_SUBSCRIPTIONS} of one connection`,
      });
    }
    const { streams } = this.#services;
    const { reader } = stream;
    requireMayTrade([channel], reader.mayTrade);
    const filter = await streamFilter(this.#services, reader, { ...asked, channels: [channel] });
    const positions = await startPositions(streams.hub, filter, { field: 'since', from: asked.since ?? null });
    const unfollow = await streams.connections.follow(reader, marketNames(filter));
    // After 'close' nothing would end the subscription.
    if (!this.#isOpen) return unfollow();
    const sid = stream.subscribe(filter, positions, unfollow);
    this.#send({ op: 'subscribed', id, sid });
  }

  #refuse(id: string | number | undefined, error: unknown): void {
    const failure = toFailure(error);
    if (failure.status >= 500) this.#services.log.error({ err: error, reqId: this.#request.id }, failure.message);
    this.#send({ op: 'error', id, ...envelope(failure) });
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }
}

const tooManyMessages = (): ApiError =>
  new ApiError(429, 'Too many messages', {
    resolution: 'Send fewer at once.',
    errorText: `${MESSAGES_A_SECOND} messages a second, ${MESSAGES_AT_ONCE} at once`,
  });

/** The id of a message that is rejected unread; long messages are not parsed for it. */
function idOf(text: string): string | number | undefined {
  try {
    return text.length > STRANGER_BYTES ? undefined : messageOf(text).id;
  } catch {
    return undefined;
  }
}

function messageOf(text: string): z.output<typeof Message> {
  try {
    return Message.parse(JSON.parse(text));
  } catch {
    const received = JSON.stringify(text.slice(0, 80).replaceAll(/pk_[\w-]*/g, 'pk_…'));
    throw badRequest([{ field: 'message', expected: 'a JSON object with op, as text', received }]);
  }
}
