import { setTimeout as sleep } from 'node:timers/promises';
import { startOrderStores } from '../../helpers/order-stores.ts';
import { startProcess } from '../../helpers/process.ts';
import { type ClientFigures, openClients } from './clients.ts';
import { startLivePlatform } from './platform.ts';
import { startRelay } from './relay.ts';

const CLIENTS = 100;
const CONNECTIONS_OF_USER = 50;
const PER_SECOND = 500;
/** Of the book channel a trade is about two changes, and not every market is streamed. */
const TRADES_FOR_BOOKS = 250;
const SETTLE_MS = 3000;
const START_MS = 120_000;

const CHANNELS = { trades: ['trade'], quotes: ['quote'], books: ['book_change'] } as const;
type Channel = keyof typeof CHANNELS;

/** From the platform's time of an event to its arrival at a client, milliseconds, at 100 clients. */
export interface LatencyResult {
  channel: Channel;
  ours: ClientFigures;
  /** Through a process that passes the platform's frames on and does nothing else. */
  relay: ClientFigures;
}

/** How long events of a simulated Kalshi take to 100 clients, through the whole service and through a bare relay. */
export async function benchLatency(seconds: number): Promise<LatencyResult[]> {
  const platform = await startLivePlatform();
  const stores = await startOrderStores();
  const users = CLIENTS / CONNECTIONS_OF_USER;
  const keys = await stores.within(({ customer }) => Promise.all(Array.from({ length: users }, () => customer())));
  const measure = async (channel: Channel, url: string): Promise<ClientFigures> => {
    const streams = Array.from({ length: CLIENTS }, (_, n) => ({ url, key: keys[n % users]?.key ?? '' }));
    const clients = await openClients({ streams, events: [...CHANNELS[channel]], lookIntoEvery: 10 });
    platform.trade(channel === 'books' ? TRADES_FOR_BOOKS : PER_SECOND);
    await sleep(SETTLE_MS);
    const figures = await clients.measure(seconds * 1000);
    platform.trade(0);
    clients.close();
    await sleep(SETTLE_MS);
    return figures;
  };
  const relay = await startRelay(platform);
  const relayed: Partial<Record<Channel, ClientFigures>> = {};
  for (const channel of names) relayed[channel] = await measure(channel, relay.urls[channel]);
  relay.close();

  const ids = platform.tickers.map((ticker) => `kalshi:${ticker}`);
  const env = { ...stores.env, ...platform.env, PLATFORMS: 'kalshi', BOOKS_RECORD: '0', BOOKS_MARKETS: ids.join(',') };
  const service = startProcess('all', env);
  const url = await service.ready;
  await booksAreKnown(url, keys[0]?.key ?? '', ids);
  const results: LatencyResult[] = [];
  for (const channel of names) {
    const search = new URLSearchParams({
      channels: channel,
      ...(channel === 'books' ? { market_ids: ids.join(',') } : {}),
    });
    const ours = await measure(channel, `${url}/v1/api/stream?${search}`);
    results.push({ channel, ours, relay: relayed[channel] ?? ours });
  }
  service.kill('SIGTERM');
  await service.ended;
  platform.close();
  await stores.close();
  return results;
}

const names = Object.keys(CHANNELS) as Channel[];

/** Resolves once the sockets are followed and every market is recorded. */
async function booksAreKnown(url: string, key: string, ids: readonly string[]): Promise<void> {
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(1000)) {
    const headers = { 'x-api-key': key };
    const health = (await (await fetch(`${url}/v1/api/health`, { headers })).json()) as {
      checks: { platform?: string; feed?: string }[];
    };
    const isLive = health.checks.some(({ platform, feed }) => platform === 'kalshi' && feed === 'live');
    const last = encodeURIComponent(ids.at(-1)?.replace('kalshi:', '') ?? '');
    const at = new Date().toISOString();
    const book = await fetch(`${url}/v1/api/markets/id/${last}/orderbook?provider=kalshi&at=${at}`, { headers });
    if (isLive && book.ok) return;
  }
  throw new Error('the service did not follow the simulated platform');
}
