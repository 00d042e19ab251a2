import type { Stop } from '../../core/time.ts';
import { SpacedCall } from '../../core/spaced-call.ts';
import { reasonOf } from '../../core/errors.ts';
import type { Platform } from '../../core/model.ts';
import type { SocketChannel, SocketEvent, SocketObserver } from '../../platforms/sockets/contract.ts';
import { SocketKeeper } from '../../platforms/sockets/keeper.ts';
import type { OrderClient } from '../clients.ts';
import type { OrderContext } from '../context.ts';
import { Rechecks } from './rechecks.ts';

/** A client that reconnects finds its sockets open. */
const LINGER_MS = 3000;
/** Interval at which credentials are read: a removed one closes its socket, a new one opens one. */
const LOOK_MS = 2000;
const LOOK_SPACE_MS = 50;
/** Most sockets of one user: those of the default credentials, then of the newest ones. */
const MOST_OF_USER = 10;
/** Interval between two openings at one platform. */
const OPEN_SPACE_MS = 250;
/** A refused credential is tried again after this time: the cause may have been a gateway, or a clock that is right by now. */
const REFUSED_MS = 600_000;

type StoredCredential = Awaited<ReturnType<OrderContext['credentials']['ofUsers']>>[number];

interface Followed {
  /** Open streams. */
  count: number;
  /** Cancels the planned release of a user without streams. */
  keep: Stop | undefined;
  /** By credential id; null: the credential or its platform has no socket, or was refused a moment ago. */
  readonly sockets: Map<number, { close(): Promise<void> } | null>;
}

/**
 * The platforms' private sockets of users who stream their orders: one for each stored credential. An event of a socket is only a reason to
 * read an order. Each process with such a stream has its own, `most` at once: a credential that finds no place waits until one is free.
 */
export class PrivateSockets {
  readonly #context: OrderContext;
  readonly #observer: SocketObserver;
  readonly #most: number;
  readonly #users = new Map<string, Followed>();
  readonly #look: SpacedCall;
  /** Sockets that are being closed. */
  readonly #closing = new Set<Promise<void>>();
  #stopLooking: Stop | undefined;
  /** Cancels the look that is planned for credentials whose platform was asked a moment ago. */
  #early: Stop | undefined;
  #isReading = false;
  /** Credentials that could not be opened, each logged once. */
  readonly #unopened = new Set<number>();
  /** From when on the next socket of a platform may be opened, by the clock's elapsed(). */
  readonly #nextOpening = new Map<Platform, number>();
  /** The last read left out a credential for want of a place, which is logged. */
  #isFull = false;

  constructor(context: OrderContext, observer: SocketObserver, most: number) {
    this.#context = context;
    this.#most = most;
    this.#look = new SpacedCall(context.clock, LOOK_SPACE_MS, () => void this.#read());
    this.#observer = observer;
  }

  /** Keeps the sockets of a user open until the returned function is called once, and a little longer. */
  follow(userId: string): () => void {
    const user = this.#users.get(userId) ?? { count: 0, keep: undefined, sockets: new Map() };
    this.#users.set(userId, user);
    user.count += 1;
    user.keep?.();
    this.#stopLooking ??= this.#context.clock.every(LOOK_MS, () => this.#look.ask());
    this.#look.ask();
    return () => {
      user.count -= 1;
      if (user.count > 0) return;
      user.keep = this.#context.clock.timeout(LINGER_MS, () => this.#release(userId));
    };
  }

  async stop(): Promise<void> {
    this.#stopLooking?.();
    this.#look.cancel();
    this.#early?.();
    for (const [userId, { keep }] of this.#users) {
      keep?.();
      this.#release(userId);
    }
    await Promise.all(this.#closing);
  }

  #release(userId: string): void {
    const sockets = this.#users.get(userId)?.sockets ?? new Map();
    this.#users.delete(userId);
    for (const id of sockets.keys()) this.#close(sockets, id);
    if (this.#users.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
    this.#unopened.clear();
  }

  #close(sockets: Followed['sockets'], id: number): void {
    const closed = sockets.get(id)?.close() ?? Promise.resolve();
    sockets.delete(id);
    this.#closing.add(closed);
    void closed.finally(() => this.#closing.delete(closed));
  }

  /** Opens sockets of credentials that have none, and closes those of credentials that are gone. */
  async #read(): Promise<void> {
    if (this.#isReading || this.#users.size === 0) return;
    this.#isReading = true;
    const asked = new Map(this.#users);
    try {
      const stored = await this.#context.credentials.ofUsers([...asked.keys()]);
      // The first credential of each user comes before anybody's second one.
      const turns: StoredCredential[][] = [];
      for (const [userId, { sockets }] of asked) {
        const all = stored.filter((one) => one.userId === userId);
        // A credential that was refused leaves its place to the next one.
        const own = all.filter(({ id }) => sockets.get(id) !== null).slice(0, MOST_OF_USER);
        const kept = new Set(
          all
            .filter(({ id }) => sockets.get(id) === null)
            .concat(own)
            .map(({ id }) => id),
        );
        for (const id of sockets.keys()) if (!kept.has(id)) this.#close(sockets, id);
        for (const [turn, one] of own.entries()) if (!sockets.has(one.id)) (turns[turn] ??= []).push(one);
      }
      await this.#openSome(turns.flat());
    } catch (error) {
      this.#context.log.warn({ reason: reasonOf(error) }, 'Failed to read the credentials of private sockets');
    } finally {
      this.#isReading = false;
    }
    // For users who subscribed during this read.
    if ([...this.#users.keys()].some((userId) => !asked.has(userId))) this.#look.ask();
  }

  /** Opens the first of these that find a place. The others wait for the next look. */
  async #openSome(waiting: readonly StoredCredential[]): Promise<void> {
    const { clock, log } = this.#context;
    let isEarly = false;
    let isFull = false;
    for (const { id, ...account } of waiting) {
      isFull = this.#count() >= this.#most;
      if (isFull) break;
      if (clock.elapsed() < (this.#nextOpening.get(account.platform) ?? 0)) isEarly = true;
      else await this.#open({ ...account, credentialId: id });
    }
    if (isFull && !this.#isFull)
      log.warn({ most: this.#most }, 'More credentials want a private socket than may have one');
    this.#isFull = isFull;
    if (!isEarly || isFull) return;
    this.#early ??= clock.timeout(OPEN_SPACE_MS, () => {
      this.#early = undefined;
      this.#look.ask();
    });
  }

  /** Sockets that are open, or not closed yet. */
  #count(): number {
    let count = this.#closing.size;
    for (const { sockets } of this.#users.values()) for (const socket of sockets.values()) if (socket) count += 1;
    return count;
  }

  async #open(account: Parameters<OrderContext['clients']['reopen']>[0] & { credentialId: number }): Promise<void> {
    const { userId, platform, credentialId: id } = account;
    const { clients, clock, log } = this.#context;
    const user = this.#users.get(userId);
    if (!user || user.sockets.has(id)) return;
    try {
      const client = await clients.reopen(account, 'poll');
      // The user may have unsubscribed while the client was opened.
      if (!client || this.#users.get(userId) !== user) return;
      const socket = this.#connect(client, () => this.#pause(user, id));
      user.sockets.set(id, socket);
      if (socket) this.#nextOpening.set(platform, clock.elapsed() + OPEN_SPACE_MS);
    } catch (error) {
      if (this.#unopened.has(id)) return;
      this.#unopened.add(id);
      log.warn({ platform, credential: id, reason: reasonOf(error) }, 'A credential cannot open a private socket');
    }
  }

  /** Closes a refused socket, whose place is free then. After a while the next look opens another one. */
  #pause({ sockets }: Followed, id: number): void {
    if (!sockets.has(id)) return;
    this.#close(sockets, id);
    sockets.set(id, null);
    this.#context.clock.timeout(REFUSED_MS, () => {
      if (sockets.get(id) === null) sockets.delete(id);
    });
  }

  #connect(client: OrderClient, onRefused: () => void): { close(): Promise<void> } | null {
    const channel = client.privateChannel();
    return channel && openAccountSocket(this.#context, this.#observer, { client, channel, onRefused });
  }
}

function openAccountSocket(
  context: OrderContext,
  observer: SocketObserver,
  { client, channel, onRefused }: { client: OrderClient; channel: SocketChannel; onRefused: () => void },
): { close(): Promise<void> } {
  const { platform, credentialId: credential } = client.account;
  const log = context.log.child({ credential });
  const rechecks = new Rechecks(context, client);
  const deps = {
    platform,
    clock: context.clock,
    log,
    observer,
    onEvent: (event: SocketEvent): void => {
      if (event.kind === 'order') rechecks.add(event);
    },
    onEnd: (): void => {},
  };
  const keeper = new SocketKeeper(deps, channel, [], {
    // A socket does not repeat the events from before it was ready.
    onReady: () => rechecks.addAll(),
    onRefused: (reason) => {
      log.warn({ platform, reason }, 'A platform refused the private socket of a credential');
      onRefused();
    },
  });
  return {
    async close() {
      await Promise.all([keeper.stop(), rechecks.stop()]);
    },
  };
}
