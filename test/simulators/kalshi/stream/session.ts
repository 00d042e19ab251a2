import { z } from 'zod';
import type { SimClient } from '../../lib/index.ts';
import type { Exchange } from '../exchange.ts';
import { snapshotFrame, tickerFrame } from './frames.ts';
import { type ChannelName, CHANNELS, type FrameFaults, Subscription } from './subscription.ts';

const Command = z.object({
  id: z.number().int().nonnegative().optional(),
  cmd: z.string(),
  params: z.unknown().optional(),
});
const names = z.array(z.string()).optional();
const Params = z.object({
  channels: names,
  market_ticker: z.string().optional(),
  market_tickers: names,
  sid: z.number().int().optional(),
  sids: z.array(z.number().int()).optional(),
  action: z.string().optional(),
  use_yes_price: z.boolean().optional(),
  skip_ticker_ack: z.boolean().optional(),
  send_initial_snapshot: z.boolean().optional(),
});
type Params = z.output<typeof Params>;

const ERRORS = {
  1: 'Unable to process message',
  2: 'Params required',
  3: 'Channels required',
  4: 'Subscription IDs required',
  5: 'Unknown command',
  7: 'Unknown subscription ID',
  8: 'Unknown channel name',
  9: 'Authentication required',
  10: 'Channel error',
  12: 'Exactly one subscription ID is required',
  13: 'Unsupported action',
  14: 'Market Ticker required',
  15: 'Action required',
  25: 'Subscription buffer overflow',
  27: 'Too many requests',
  28: 'Markets not found',
} as const;
export type ErrorCode = keyof typeof ERRORS;

const errorOf = (code: ErrorCode) => ({ code, msg: ERRORS[code] });

/** One connection: its commands and its subscriptions, numbered from 1. */
export class StreamSession {
  readonly #client: SimClient;
  readonly #exchange: Exchange;
  readonly #faults: FrameFaults;
  readonly #open = new Map<number, Subscription>();
  #lastSid = 0;

  constructor(client: SimClient, exchange: Exchange, faults: FrameFaults) {
    this.#client = client;
    this.#exchange = exchange;
    this.#faults = faults;
  }

  on(channel: ChannelName): Subscription | undefined {
    return [...this.#open.values()].find((one) => one.channel === channel);
  }

  /** The platform ends a subscription: the socket stays open, and pings. */
  end(channel: ChannelName, code: 10 | 25): void {
    const subscription = this.on(channel);
    if (!subscription) return;
    subscription.send('error', errorOf(code));
    this.#open.delete(subscription.sid);
  }

  take(text: string): void {
    const command = Command.safeParse(jsonOf(text));
    if (!command.success) return this.#refuse(undefined, 1);
    const { id, cmd, params } = command.data;
    if (cmd === 'list_subscriptions') {
      const list = [...this.#open.values()].map(({ channel, sid }) => ({ channel, sid }));
      return this.#client.send({ ...(id === undefined ? {} : { id }), type: 'ok', msg: list });
    }
    const work = { subscribe: this.#subscribe, update_subscription: this.#update, unsubscribe: this.#unsubscribe }[cmd];
    if (!work) return this.#refuse(id, 5);
    if (params === undefined) return this.#refuse(id, 2);
    const given = Params.safeParse(params);
    if (!given.success) return this.#refuse(id, 1);
    work.call(this, id, given.data);
  }

  #refuse(id: number | undefined, code: ErrorCode): void {
    this.#client.send({ ...(id === undefined ? {} : { id }), type: 'error', msg: errorOf(code) });
  }

  /** All answers first, then the books, by ticker. A channel that is held takes the further markets, and shows those alone. */
  #subscribe(id: number | undefined, params: Params): void {
    const channels = params.channels ?? [];
    const tickers = tickersOf(params);
    if (channels.length === 0) return this.#refuse(id, 3);
    if (!channels.every(isChannel)) return this.#refuse(id, 8);
    if (channels.includes('orderbook_delta') && tickers === null) return this.#refuse(id, 14);
    const unknown = (tickers ?? []).filter((ticker) => this.#faults.unknown.has(ticker));
    if (unknown.length > 0) {
      const head = id === undefined ? {} : { id };
      return this.#client.send({ ...head, type: 'error', msg: { ...errorOf(28), market_tickers: unknown } });
    }
    const shown: { subscription: Subscription; added: string[] }[] = [];
    for (const channel of channels) {
      const held = this.on(channel);
      if (this.#faults.forbidden.has(channel)) this.#refuse(id, 9);
      else if (held) shown.push({ subscription: held, added: this.#add(held, id, params) });
      else {
        const takesTickers = channel !== 'market_lifecycle_v2' && channel !== 'multivariate_market_lifecycle';
        const given = {
          sid: (this.#lastSid += 1),
          channel,
          tickers: takesTickers && tickers ? new Set(tickers) : null,
          usesYesPrice: params.use_yes_price ?? false,
        };
        const subscription = new Subscription(this.#client, this.#faults, given, () => this.#exchange.nowMs);
        this.#open.set(subscription.sid, subscription);
        const head = id === undefined ? {} : { id };
        this.#client.send({ type: 'subscribed', ...head, msg: { channel, sid: subscription.sid } });
        shown.push({ subscription, added: tickers ?? [] });
      }
    }
    for (const { subscription, added } of shown) {
      if (subscription.channel === 'ticker' && params.send_initial_snapshot) this.#showTickers(subscription, added);
      this.#showBooks(subscription, added.toSorted());
    }
  }

  #update(id: number | undefined, params: Params): void {
    const sids = [...(params.sids ?? []), ...(params.sid === undefined ? [] : [params.sid])];
    if (sids.length !== 1) return this.#refuse(id, 12);
    const subscription = this.#open.get(sids[0] ?? 0);
    if (!subscription) return this.#refuse(id, 7);
    const { action } = params;
    if (action === undefined) return this.#refuse(id, 15);
    const tickers = tickersOf(params);
    // What a subscription answers has its number, and not the id of the command.
    if (action === 'get_snapshot') {
      if (subscription.channel !== 'orderbook_delta') return subscription.send('error', errorOf(13));
      if (!params.market_tickers) return subscription.send('error', errorOf(14));
      this.#showBooks(subscription, params.market_tickers, id);
    } else if (action === 'add_markets' && this.#faults.limited > 0) {
      this.#faults.limited -= 1;
      subscription.send('error', errorOf(27));
    } else if (action === 'add_markets' && tickers) {
      this.#showBooks(subscription, this.#add(subscription, id, params).toSorted());
    } else if (action === 'delete_markets' && tickers) {
      for (const ticker of tickers) subscription.tickers?.delete(ticker);
      subscription.send('ok', ackOf(subscription, params), id);
    } else subscription.send('error', errorOf(13));
  }

  #unsubscribe(id: number | undefined, { sids }: Params): void {
    if (!sids || sids.length === 0) return this.#refuse(id, 4);
    for (const sid of sids) {
      const subscription = this.#open.get(sid);
      if (!subscription) this.#refuse(id, 7);
      this.#open.delete(sid);
      subscription?.send('unsubscribed', undefined, id);
    }
  }

  /** Takes further markets into a subscription; returns those that it did not have. */
  #add(subscription: Subscription, id: number | undefined, params: Params): string[] {
    const tickers = tickersOf(params) ?? [];
    const added = tickers.filter((ticker) => !(subscription.tickers?.has(ticker) ?? true));
    for (const ticker of added) subscription.tickers?.add(ticker);
    subscription.send('ok', ackOf(subscription, params), id);
    return added;
  }

  #showBooks(subscription: Subscription, tickers: readonly string[], id?: number): void {
    if (subscription.channel !== 'orderbook_delta') return;
    for (const ticker of tickers) {
      const frame = snapshotFrame(this.#exchange, ticker, subscription.usesYesPrice);
      subscription.send('orderbook_snapshot', frame, id);
    }
  }

  #showTickers(subscription: Subscription, tickers: readonly string[]): void {
    for (const ticker of tickers) {
      const market = this.#exchange.marketByTicker.get(ticker);
      if (market) subscription.send('ticker', tickerFrame(this.#exchange, market));
    }
  }
}

const ackOf = ({ tickers }: Subscription, params: Params): unknown =>
  params.skip_ticker_ack ? undefined : { market_tickers: [...(tickers ?? [])].toSorted() };

const tickersOf = ({ market_ticker: one, market_tickers: many }: Params): string[] | null =>
  many ?? (one === undefined ? null : [one]);

const isChannel = (name: string): name is ChannelName => (CHANNELS as readonly string[]).includes(name);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
