import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { openEventStream } from './event-stream.ts';

/** What a follower asks for: the parameters of GET /v1/api/stream, or of a WebSocket's subscription to trades. */
export interface Following {
  kind: 'sse' | 'ws';
  /** Where to connect now; another process may answer next time. */
  origin: () => string;
  key: string;
  /** All platforms where it is left out. */
  platform?: string;
  /** How a stream of server-sent events is given the cursor. */
  resumes?: 'Last-Event-ID' | 'since';
}

type Data = Record<string, unknown>;
interface Socket {
  /** Resolves when it is closed by either side. */
  readonly closed: Promise<unknown>;
  cut(): void;
}

const RETRY_MS = 150;
/** Statuses of a service that is gone for a moment, or asked too often. */
const PASSING = new Set([408, 429, 500, 502, 503]);

export const tradeKey = (platform: unknown, id: unknown): string => `${String(platform)} ${String(id)}`;

/**
 * A client of trades that connects again whenever it is cut, with the last cursor that it processed, and holds the service to its
 * promise: each trade once, those of a market in order, positions of a platform rising, no gap.
 */
export class TradeFollower {
  /** Trades that came, by tradeKey. */
  readonly seen = new Map<string, Data>();
  readonly faults: string[] = [];
  readonly following: Following;
  connects = 0;
  /** The position behind which it resumes. */
  cursor: string;
  readonly #newest = new Map<string, string>();
  readonly #sequences = new Map<unknown, number>();
  #socket: Socket | null = null;
  #isStopped = false;
  #running: Promise<void>;

  constructor(following: Following, cursor: string) {
    this.following = following;
    this.cursor = cursor;
    this.#running = this.#run();
  }

  /** Whether it is connected, and past the beginning of its stream. */
  get isOpen(): boolean {
    return this.#socket !== null;
  }

  /** Ends the connection at once, without a word. */
  cut(): void {
    this.#socket?.cut();
  }

  /** Resolves once it has this many trades, after 30 s at the latest. */
  async caughtUp(trades: number): Promise<void> {
    for (const end = Date.now() + 30_000; this.seen.size < trades && Date.now() < end;) await sleep(50);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.cut();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        this.#socket = await (this.following.kind === 'sse' ? this.#openStream() : this.#openSocket());
        if (this.#isStopped) this.#socket.cut();
        this.connects += 1;
        await this.#socket.closed;
      } catch {
        // Nobody answers: the service is being started again.
      }
      this.#socket = null;
      if (!this.#isStopped) await sleep(RETRY_MS * (0.5 + Math.random()));
    }
  }

  async #openStream(): Promise<Socket> {
    const { origin, key, platform, resumes = 'Last-Event-ID' } = this.following;
    const query = new URLSearchParams({ channels: 'trades', ...(platform === undefined ? {} : { platform }) });
    const headers: Record<string, string> = { 'x-api-key': key };
    if (resumes === 'since') query.set('since', this.cursor);
    else headers['last-event-id'] = this.cursor;
    const url = `${origin()}/v1/api/stream?${String(query)}`;
    const stream = await openEventStream(url, headers, ({ id, event, data }) => this.#take(event, id, data));
    if (stream.status === 200) return { closed: stream.ended, cut: () => stream.cut() };
    if (!PASSING.has(stream.status)) this.faults.push(`refused with ${stream.status} ${stream.text}`);
    throw new Error(`answered ${stream.status}`);
  }

  async #openSocket(): Promise<Socket> {
    const { origin, key, platform } = this.following;
    const socket = new WebSocket(`${origin().replace('http', 'ws')}/v1/api/ws`, { headers: { 'x-api-key': key } });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    let isCut = false;
    socket.on('message', (text: Buffer) => {
      // Frames that came before a cut are handed over after it.
      if (!isCut) this.#hear(socket, JSON.parse(String(text)) as Data);
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).on('error', reject));
    socket.send(JSON.stringify({ op: 'subscribe', channel: 'trades', platform, since: this.cursor }));
    const cut = (): void => {
      isCut = true;
      socket.terminate();
    };
    return { closed, cut };
  }

  #hear(socket: WebSocket, { op, error, event, cursor, data }: Data): void {
    if (op === 'error') {
      const { status } = error as { status: number };
      if (!PASSING.has(status)) this.faults.push(JSON.stringify(error));
      socket.terminate();
    } else if (typeof event === 'string') this.#take(event, (cursor ?? null) as string | null, data as Data);
  }

  #take(event: string, cursor: string | null, data: Data): void {
    if (event === 'gap') this.faults.push(`gap ${JSON.stringify(data)}`);
    if (event !== 'trade') return;
    const { platform, trade_id: id, market_id: market, exchange_at: at, sequence } = data;
    const key = tradeKey(platform, id);
    if (cursor === null) this.faults.push(`${key} has no cursor`);
    else this.cursor = cursor;
    if (this.seen.has(key)) this.faults.push(`${key} came twice`);
    this.seen.set(key, data);
    const place = tradeKey(platform, market);
    const newest = this.#newest.get(place) ?? '';
    if (String(at) < newest) this.faults.push(`${key} of ${String(at)} came after one of ${newest}`);
    this.#newest.set(place, String(at));
    if (Number(sequence) <= (this.#sequences.get(platform) ?? 0)) this.faults.push(`${key} has a lower position`);
    this.#sequences.set(platform, Number(sequence));
  }
}

/** The cursor of everything logged until now, for followers of these platforms. */
export async function cursorNow({ origin, key, platform }: Following): Promise<string> {
  const query = new URLSearchParams({ channels: 'trades', ...(platform === undefined ? {} : { platform }) });
  const stream = await openEventStream(`${origin()}/v1/api/stream?${String(query)}`, { 'x-api-key': key });
  const [state] = await stream.until('state', 1);
  stream.cut();
  const cursor = state?.data['cursor'];
  if (typeof cursor !== 'string') throw new Error(`no cursor: ${stream.status} ${stream.text}`);
  return cursor;
}

/** The trades that followers of their platforms do not have. */
export function missingTrades(followers: readonly TradeFollower[], trades: { keys(): Iterable<string> }): string[] {
  return followers.flatMap(({ seen, following: { platform } }, n) =>
    [...trades.keys()]
      .filter((key) => !seen.has(key) && (platform ?? key).includes(key.split(' ')[0] ?? ''))
      .map((key) => `follower ${n} has no ${key}`),
  );
}
