import type { SimClient } from '../../lib/index.ts';

export const CHANNELS = [
  'orderbook_delta',
  'trade',
  'ticker',
  'market_lifecycle_v2',
  'multivariate_market_lifecycle',
  'user_orders',
  'fill',
] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** Channels whose frames have no number. */
const UNNUMBERED: ReadonlySet<ChannelName> = new Set(['ticker', 'user_orders', 'fill']);

/** What a test makes go wrong with frames that have a number. */
export interface FrameFaults {
  /** So many frames get their number and are not sent. */
  lose: number;
  /** Markets for which a subscription is answered with code 28 as well, as was seen of markets that are over. */
  unknown: Set<string>;
  /** Channels to which access is not granted. */
  forbidden: Set<ChannelName>;
  /** So many further markets are refused, for there were too many commands. */
  limited: number;
}

/** One channel of one connection: its number, its own count of frames, and which markets it is of. */
export class Subscription {
  readonly sid: number;
  readonly channel: ChannelName;
  /** null = all markets. */
  tickers: Set<string> | null;
  readonly usesYesPrice: boolean;
  readonly #client: SimClient;
  readonly #faults: FrameFaults;
  readonly #nowMs: () => number;
  #seq = 0;

  constructor(
    client: SimClient,
    faults: FrameFaults,
    given: { sid: number; channel: ChannelName; tickers: Set<string> | null; usesYesPrice: boolean },
    nowMs: () => number,
  ) {
    this.#client = client;
    this.#faults = faults;
    this.#nowMs = nowMs;
    this.sid = given.sid;
    this.channel = given.channel;
    this.tickers = given.tickers;
    this.usesYesPrice = given.usesYesPrice;
  }

  wants(ticker: string): boolean {
    return this.tickers?.has(ticker) ?? true;
  }

  /** Sends a frame under the next number; tickers and own data have none. `id` is that of the command it answers. */
  send(type: string, msg: unknown, id?: number): void {
    const head = { type, ...(id === undefined ? {} : { id }), sid: this.sid };
    if (UNNUMBERED.has(this.channel)) return this.#client.send({ ...head, msg });
    this.#seq += 1;
    if (this.#faults.lose > 0) {
      this.#faults.lose -= 1;
      return;
    }
    const body = msg === undefined ? {} : { msg };
    this.#client.send({ ...head, seq: this.#seq, ...body, sending_ts_ms: this.#nowMs() });
  }
}
