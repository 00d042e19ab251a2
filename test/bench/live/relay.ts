import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { KalshiFields } from '../../../src/platforms/kalshi/credential.ts';
import { kalshiSigner } from '../../../src/platforms/kalshi/sign.ts';
import type { LivePlatform } from './platform.ts';

/** A relay in the service's place: each frame of the platform's socket to every client, nothing read, checked or stored. */
export interface RelayProcess {
  /** Of server-sent events named trade, quote and book_change. */
  urls: Record<'trades' | 'quotes' | 'books', string>;
  close(): void;
}

export async function startRelay(platform: LivePlatform): Promise<RelayProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['run'], { execArgv: ['--import', 'tsx'] });
  child.send({ env: platform.env, tickers: platform.tickers } satisfies LivePlatform);
  const [origin] = (await once(child, 'message')) as [string];
  return {
    urls: { trades: `${origin}/trade`, quotes: `${origin}/quote`, books: `${origin}/book_change` },
    close: () => child.kill(),
  };
}

const NAMES: Record<string, string> = { trade: 'trade', ticker: 'quote', orderbook_delta: 'book_change' };

async function relay({ env, tickers }: LivePlatform): Promise<void> {
  const key = { api_key_id: env['KALSHI_API_KEY_ID'], private_key: env['KALSHI_PRIVATE_KEY'] };
  const sign = kalshiSigner(KalshiFields.parse(key), Date.now);
  const headers = await sign('GET', 'https://kalshi/trade-api/ws/v2');
  const socket = new WebSocket(env['KALSHI_WS_URL'] ?? '', { headers });
  await once(socket, 'open');
  const subscribe = (id: number, params: object): void => socket.send(JSON.stringify({ id, cmd: 'subscribe', params }));
  subscribe(1, { channels: ['trade', 'ticker'] });
  subscribe(2, { channels: ['orderbook_delta'], market_tickers: tickers, use_yes_price: true });
  const readers = new Map<string, Set<ServerResponse>>();
  const server = createServer((request, response) => {
    const name = (request.url ?? '/').slice(1);
    readers.set(name, (readers.get(name) ?? new Set()).add(response));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket.on('message', (data: Buffer) => {
    const { type, msg } = JSON.parse(String(data)) as { type: string; msg: { ts_ms: number } };
    const name = NAMES[type];
    if (name === undefined) return;
    const text = JSON.stringify({ ...msg, exchange_at: new Date(msg.ts_ms).toISOString() });
    for (const reader of readers.get(name) ?? []) reader.write(`event: ${name}\ndata: ${text}\n\n`);
  });
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

if (process.send && process.argv[2] === 'run') {
  process.once('message', (platform: LivePlatform) => void relay(platform));
  process.once('disconnect', () => process.exit(0));
}
