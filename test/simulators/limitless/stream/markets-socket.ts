import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pause, repeat, type SimClient, type SimSocketRoute } from '../../lib/index.ts';
import { authenticate } from '../auth.ts';
import type { Profile } from '../members.ts';
import type { ClobMarket } from '../model.ts';
import { decimal } from '../rows.ts';
import { underlyingAt } from '../underlying.ts';
import { isObject, Refusal } from '../wire.ts';
import type { LimitlessWorld } from '../world.ts';
import { emit, NAMESPACE, readEvent, readPacket } from './packets.ts';
import { orderEvents } from './order-events.ts';
import { type BookUpdate, Publisher } from './publisher.ts';

export interface StreamOptions {
  /** What the open packet says, and how often the server pings. */
  pingIntervalMs?: number;
  /** How long it waits for the answer, as the open packet says. */
  pingTimeoutMs?: number;
}

/** Changes of a book that come closer together are one frame. */
const TICK_MS = 40;
/** What an upgrade signs, whatever the query. */
const SIGNED = '/socket.io/?EIO=4&transport=websocket';
/** A private subscription comes at most so long after the signature of its upgrade. */
const SIGNATURE_MS = 30_000;
const ORACLE_MS = 1000;
/** A resolution is announced three times, byte for byte the same. */
const COPIES_MS = [0, 200, 500];

/** What a test makes go wrong with books. */
export interface BookFaults {
  /** So many frames of changed books are not sent. */
  lose: number;
}

interface Session {
  isJoined: boolean;
  wanted: ReadonlySet<ClobMarket>;
  hasLifecycle: boolean;
  /** Version sent last, by market. */
  sent: WeakMap<ClobMarket, number>;
  unansweredMs: number | null;
  /** Whose token signed the upgrade, and when; null for a public one and for a wrong signature. */
  member: { profile: Profile; signedMs: number } | null;
  hasOrders: boolean;
}

/** The socket.io namespace /markets over engine.io 4: whole books, beginnings and ends of markets; no trades, no acks, no replay. */
export function marketsSocket(
  world: LimitlessWorld,
  options: StreamOptions = {},
): SimSocketRoute & { readonly faults: BookFaults } {
  const faults: BookFaults = { lose: 0 };
  const { pingIntervalMs = 25_000, pingTimeoutMs = 60_000 } = options;
  const publisher = new Publisher(world);
  const sessions = new Map<SimClient, Session>();
  const pings = new Map<SimClient, () => void>();
  let stop: (() => void) | undefined;
  let oracleMs = 0;
  world.desk.watch = orderEvents(world, (profile, payload) => {
    for (const [client, { member, hasOrders }] of sessions) {
      if (hasOrders && member?.profile === profile) emit(client, 'orderEvent', payload);
    }
  });

  /** Nothing is said of a wrong signature before something private is asked for. */
  const memberOf = ({ headers: given }: IncomingMessage): Session['member'] => {
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
    const signed = { method: 'GET', target: SIGNED, path: SIGNED, query: new URLSearchParams(), body: '', headers };
    try {
      const profile = authenticate(signed, world.members, world.clock.now(), null);
      return { profile, signedMs: Date.parse(headers['lmts-timestamp'] ?? '') };
    } catch (error) {
      if (error instanceof Refusal) return null;
      throw error;
    }
  };

  const subscribeOrders = (client: SimClient, session: Session): void => {
    const { member } = session;
    const isFresh = member !== null && Math.abs(world.clock.now() - member.signedMs) <= SIGNATURE_MS;
    if (!isFresh) return emit(client, 'exception', { status: 'error', message: 'Authentication required' });
    session.hasOrders = true;
    emit(client, 'system', { message: 'Successfully subscribed to order events' });
  };

  const sendBook = (client: SimClient, session: Session, market: ClobMarket): void => {
    const update = publisher.book(market);
    session.sent.set(market, update.version);
    emit(client, 'orderbookUpdate', update);
  };

  const tick = (): void => {
    world.advance();
    announce();
    const isOracleDue = world.clock.now() - oracleMs >= ORACLE_MS;
    if (isOracleDue) oracleMs = world.clock.now();
    for (const [client, session] of sessions) {
      for (const market of session.wanted) {
        const { version } = publisher.book(market);
        if (session.sent.get(market) === version) continue;
        if (faults.lose > 0) {
          faults.lose -= 1;
          session.sent.set(market, version);
        } else sendBook(client, session, market);
      }
      for (const market of session.wanted) {
        if (isOracleDue && market.series) emit(client, 'oraclePriceData', oracleOf(world, market));
      }
    }
  };

  const listeners = (room: ClobMarket | null): SimClient[] =>
    [...sessions].flatMap(([client, one]) => (one.hasLifecycle || (room && one.wanted.has(room)) ? [client] : []));

  const announce = (): void => {
    const { created, resolved } = publisher.lifecycle();
    for (const payload of created) for (const client of listeners(null)) emit(client, 'marketCreated', payload);
    for (const { market, payload } of resolved) {
      const room = market.kind === 'clob' ? market : null;
      for (const client of listeners(room)) {
        for (const delayMs of COPIES_MS)
          void pause(world.clock, delayMs).then(() => emit(client, 'marketResolved', payload));
      }
    }
  };

  /** Throws out what was subscribed before. */
  const subscribePrices = (client: SimClient, session: Session, payload: unknown): void => {
    const slugs =
      isObject(payload) && Array.isArray(payload['marketSlugs']) ? (payload['marketSlugs'] as string[]) : [];
    if (slugs.length === 0) return emit(client, 'exception', { message: 'No markets provided', status: 'error' });
    const known = slugs.flatMap((slug) => {
      const market = world.markets.get(slug);
      return market?.kind === 'clob' ? [market] : [];
    });
    const open = known.filter(({ status }) => status !== 'RESOLVED');
    if (known.length > 0 && open.length === 0) {
      return emit(client, 'error', { message: 'All requested markets are resolved' });
    }
    const before = session.wanted;
    session.wanted = new Set(open);
    const message = 'Successfully subscribed to market price updates';
    emit(client, 'system', { message, markets: open.map(({ slug }) => slug) });
    for (const [index, market] of open.entries()) {
      // Now and then the database's copy comes first, or too late.
      if (index % 7 === 3) emit(client, 'orderbookUpdate', fallbackOf(publisher.book(market)));
      sendBook(client, session, market);
      if (index % 7 === 5) emit(client, 'orderbookUpdate', fallbackOf(publisher.book(market)));
    }
    const left = [...before].find((market) => !session.wanted.has(market));
    if (left) emit(client, 'orderbookUpdate', publisher.book(left));
  };

  const take = (client: SimClient, session: Session, name: string, payload: unknown): void => {
    if (name === 'subscribe_market_prices') subscribePrices(client, session, payload);
    else if (name === 'subscribe_market_lifecycle') {
      session.hasLifecycle = true;
      emit(client, 'system', { message: 'Subscribed to market lifecycle events' });
    } else if (name === 'unsubscribe_market_lifecycle') session.hasLifecycle = false;
    else if (name === 'subscribe_order_events') subscribeOrders(client, session);
    else if (name.startsWith('subscribe_')) emit(client, 'exception', { message: 'Authentication required' });
  };

  const ping = (client: SimClient, session: Session): void => {
    if (session.unansweredMs !== null && world.clock.now() - session.unansweredMs > pingTimeoutMs)
      client.socket.terminate();
    session.unansweredMs ??= world.clock.now();
    client.send('2');
  };

  return {
    faults,
    admit: ({ url = '' }) => {
      const query = new URLSearchParams(url.split('?', 2)[1]);
      return query.get('EIO') === '4' && query.get('transport') === 'websocket' ? 101 : 400;
    },
    connected(client, request) {
      const limits = { pingInterval: pingIntervalMs, pingTimeout: pingTimeoutMs, maxPayload: 1_000_000 };
      client.send(`0${JSON.stringify({ sid: randomUUID(), upgrades: [], ...limits })}`);
      const session: Session = {
        isJoined: false,
        wanted: new Set(),
        hasLifecycle: false,
        sent: new WeakMap(),
        unansweredMs: null,
        member: memberOf(request),
        hasOrders: false,
      };
      sessions.set(client, session);
      pings.set(
        client,
        repeat(world.clock, pingIntervalMs, () => ping(client, session)),
      );
      stop ??= repeat(world.clock, TICK_MS, tick);
    },
    closed(client) {
      pings.get(client)?.();
      pings.delete(client);
      sessions.delete(client);
      if (sessions.size > 0) return;
      stop?.();
      stop = undefined;
    },
    message(client, text) {
      const session = sessions.get(client);
      const packet = readPacket(text);
      if (!session) return;
      if (packet?.type === '3') session.unansweredMs = null;
      else if (packet?.type === '40' && packet.namespace === NAMESPACE) {
        session.isJoined = true;
        client.send(`40${NAMESPACE},${JSON.stringify({ sid: randomUUID() })}`);
        emit(client, 'system', { message: 'Successfully registered connection' });
      } else if (packet?.type === '42' && packet.namespace === NAMESPACE && session.isJoined) {
        const event = readEvent(packet);
        if (event) take(client, session, event.name, event.payload);
      } else if (packet?.type !== '40' && packet?.type !== '41') {
        // A ping of the client, or an event before it joined, is a breach of the protocol.
        client.socket.terminate();
      }
    },
  };
}

/** A snapshot out of the database: without a version, and of some time ago. */
const fallbackOf = (update: BookUpdate): BookUpdate => ({
  ...update,
  orderbook: { ...update.orderbook, bids: [], asks: [] },
  version: 0,
});

/** The price of the underlying asset, sent unasked. */
const oracleOf = (world: LimitlessWorld, { slug, series }: ClobMarket) => ({
  marketAddress: null,
  marketSlug: slug,
  source: 'pyth-pro',
  timestamp: world.clock.now(),
  value: decimal(underlyingAt(series?.symbol ?? '', world.clock.now()), 18),
});
