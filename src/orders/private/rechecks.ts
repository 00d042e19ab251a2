import { reasonOf } from '../../core/errors.ts';
import { isOver } from '../../core/order-model.ts';
import { sharedAbort } from '../../core/time.ts';
import type { NamedOrder } from '../../platforms/sockets/contract.ts';
import type { OrderClient } from '../clients.ts';
import type { OrderContext } from '../context.ts';
import type { OrderRow } from '../order-row.ts';
import { recheckOrders } from '../sync.ts';

/** A fill and the order that it changed come in two frames: one read serves both. */
const GATHER_MS = 20;
/** Orders read together. */
const BATCH = 25;
/** Maximum number of named orders that wait for a read; if there are more, all working ones are read instead. */
const MOST = 1000;
/** Interval of looks at whether the answer of an order in flight is stored: only then is the order read. */
const FLIGHT_LOOK_MS = 200;
const MOST_FLIGHTS = 100;
/** Reads may be behind frames: an order that has not changed is read once more after this time. */
const SECOND_LOOK_MS = 2000;
/** Orders of a failed read are due for the reconciler after this time. */
const RETRY_MS = 5000;

interface Waiting extends NamedOrder {
  /** Reads put off because the order is in flight. */
  flights: number;
}

/** Reads orders of one account as soon as they are named, each by one read at a time, and stores what the platform reports. */
export class Rechecks {
  readonly #context: OrderContext;
  readonly #client: OrderClient;
  readonly #stopping = sharedAbort();
  /** By name. An order that is named while it is read is read once more. */
  #named = new Map<string, Waiting>();
  /** Row ids of working orders. */
  #working: string[] = [];
  #areAllDue = false;
  #running: Promise<void> | null = null;

  constructor(context: OrderContext, client: OrderClient) {
    this.#context = context;
    this.#client = client;
  }

  /** Reads an order; one that is not stored is ignored. */
  add(order: NamedOrder): void {
    this.#add({ ...order, flights: 0 });
  }

  /** Reads every working order of the account. */
  addAll(): void {
    this.#areAllDue = true;
    this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #add(order: Waiting): void {
    if (this.#isStopped) return;
    if (this.#named.size < MOST) this.#named.set(order.orderId ?? `client:${order.clientOrderId}`, order);
    else this.#areAllDue = true;
    this.#run();
  }

  #run(): void {
    if (this.#running || this.#isStopped) return;
    this.#running = this.#readAll().catch((error: unknown) => {
      if (this.#isStopped) return;
      this.#warn(error);
      this.#context.clock.timeout(RETRY_MS, () => this.#run());
    });
  }

  async #readAll(): Promise<void> {
    const { store, clock } = this.#context;
    try {
      await clock.sleep(GATHER_MS);
      while (!this.#isStopped) {
        if (this.#areAllDue) {
          this.#working = (await store.working(this.#client.account, null, MOST)).map(({ id }) => id);
          this.#areAllDue = false;
        }
        if (this.#named.size > 0) await this.#readNamed();
        else if (this.#working.length > 0) {
          await this.#read(await store.byIds(this.#working.slice(0, BATCH)));
          this.#working.splice(0, BATCH);
        } else return;
      }
    } finally {
      // At once: an order that is named from now on needs another run.
      this.#running = null;
    }
  }

  async #readNamed(): Promise<void> {
    const waiting = [...this.#named.entries()].slice(0, BATCH);
    const names = waiting.map(([, order]) => order);
    const rows = await this.#context.store.matching(
      this.#client.account,
      names.flatMap(({ orderId }) => orderId ?? []),
      names.flatMap(({ clientOrderId }) => clientOrderId ?? []),
    );
    for (const [key, order] of waiting) if (this.#named.get(key) === order) this.#named.delete(key);
    for (const order of names) {
      const inFlight = rows.some((row) => row.state === 'sending' && isNamed(row, order));
      if (!inFlight || order.flights >= MOST_FLIGHTS) continue;
      this.#context.clock.timeout(FLIGHT_LOOK_MS, () => this.#add({ ...order, flights: order.flights + 1 }));
    }
    await this.#read(rows);
  }

  /** Orders in flight are left out: after a read now, their own answer would be ignored as older. */
  async #read(found: readonly OrderRow[]): Promise<void> {
    const { now } = this.#context;
    const rows = found.filter(({ state }) => state !== 'sending');
    try {
      const seen = await recheckOrders(this.#context, this.#client, rows, this.#stopping.signal);
      const unchanged = seen.filter((row, at) => !isOver(row.status) && isSame(row, rows[at]));
      await this.#recheckAt(unchanged, now() + SECOND_LOOK_MS);
    } catch (error) {
      if (this.#isStopped) return;
      this.#warn(error);
      await this.#recheckAt(rows, now() + RETRY_MS);
    }
  }

  async #recheckAt(rows: readonly OrderRow[], atMs: number): Promise<void> {
    for (const row of rows) {
      const { recheckAt } = row;
      if (recheckAt === null || recheckAt.getTime() > atMs) await this.#context.store.recheckLater(row, new Date(atMs));
    }
  }

  #warn(error: unknown): void {
    const { platform, credentialId } = this.#client.account;
    const reason = reasonOf(error);
    this.#context.log.warn({ platform, credential: credentialId, reason }, 'Failed to read orders of a private socket');
  }
}

const isNamed = (row: OrderRow, { orderId, clientOrderId }: NamedOrder): boolean =>
  row.orderId === null ? row.clientOrderId === clientOrderId : row.orderId === orderId;

const isSame = (row: OrderRow, before: OrderRow | undefined): boolean =>
  row.status === before?.status && row.filledSize === before.filledSize;
