import { startTestApp } from '../helpers/app.ts';
import { PASSWORD } from '../helpers/browser.ts';
import { openBrowser, watchedPage, type Watched } from './chromium.ts';

export const STORES = [
  { name: 'clickhouse', status: 'ok' },
  { name: 'postgres', status: 'ok' },
];
export const FEEDS = ['kalshi', 'polymarket', 'limitless'].map((platform) => ({
  name: `ingestion ${platform}`,
  status: 'degraded',
  platform,
  lag_seconds: 100_000,
  feed: 'stale',
  socket: { connected: false, reason: 'maintenance', subscriptions: 0, last_message_at: null, reconnects: 3 },
  detail: `markets fails: ${'upstream/'.repeat(20)}`,
  // Long names and a failure among them.
  jobs: [
    { name: 'markets', status: 'ok', finished_at: '2026-11-20T10:00:00.000Z', note: '' },
    {
      name: 'streamed_books_of_every_market',
      status: 'failed',
      finished_at: '2026-01-01T10:00:00.000Z',
      note: 'W'.repeat(200),
    },
  ],
  stored: {
    markets: 123_456,
    open_markets: 45_678,
    trades: 9_876_543,
    first_trade_at: '2026-11-20T08:08:00.000Z',
    last_trade_at: '2026-11-27T08:08:00.000Z',
  },
}));
export const healthOf = (checks: object[], status = 'degraded') => ({
  status,
  checks,
  uptime_seconds: 5000,
  version: '1.0.0',
});

export const MARKET = {
  id: 'kalshi:KXONE',
  platform: 'kalshi',
  platform_id: 'KXONE',
  title: 'Will it rain?',
  status: 'open',
  event_id: '',
  event_name: '',
  category: 'Climate',
  outcomes: [{ id: 'yes', name: 'Yes' }],
  current_prices: { yes: { price: 0.4, bid: 0.39, ask: 0.41 } },
  price_24h_changes: {},
  volume_24h_usd: null,
  volume_total_usd: null,
  liquidity_usd: null,
  usd_basis: { volume_24h: null, volume_total: null, liquidity: null },
  created_at: '2026-11-20T10:00:00.000Z',
  trading_end_at: null,
  metadata: {},
};
/** A page of the list, and with `next_cursor` null the last one. */
export const LISTED = {
  markets: [MARKET],
  pagination: { next_cursor: null, total: 1 },
  meta: { data_freshness: null },
};

interface Listed {
  markets: object[];
  pagination: { next_cursor: string | null; total: number };
  meta: { data_freshness: string | null };
}

/** The same page, as GET search has it. */
export const foundOf = ({ markets, ...rest }: Listed) => ({
  ...rest,
  results: markets.map((market) => ({ type: 'market', market })),
});

/** A reader signed in to a service without markets, whose answers a test replaces. */
export interface Reader extends Watched {
  /** What a path of the API answers from now on. */
  answer: (path: string, json: object, status?: number) => Promise<void>;
  /** What the list of markets shows from now on, and answers when it asks for its rows again. */
  list: (listed: Listed) => Promise<void>;
}

export interface BareService {
  /** Another user with a browser context of its own. */
  signedIn(): Promise<Reader>;
  close(): Promise<void>;
}

export async function startBareService(): Promise<BareService> {
  const service = await startTestApp({ env: { TRUST_PROXY: '127.0.0.1' } });
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await openBrowser();
  let users = 0;
  return {
    async signedIn() {
      const watched = await watchedPage(browser, url);
      const { context, page } = watched;
      const body = JSON.stringify({ email: `reader${(users += 1)}@example.com`, password: PASSWORD });
      // One address may register ten accounts a minute.
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': service.newAddress() };
      const made = await fetch(`${url}/v1/api/auth/register`, { method: 'POST', headers, body });
      const [name = '', value = ''] = made.headers.get('set-cookie')?.split(';')[0]?.split('=') ?? [];
      await context.addCookies([{ name, value, url }]);
      const answer = async (path: string, json: object, status = 200): Promise<void> => {
        const ofPath = new RegExp(`/v1/api/${path}`);
        await page.unroute(ofPath);
        await page.route(ofPath, (route) => route.fulfill({ status, json }));
      };
      const list = async (listed: Listed): Promise<void> => {
        await answer('markets\\?', listed);
        await answer('search', foundOf(listed));
      };
      return { ...watched, answer, list };
    },
    async close() {
      await browser.close();
      await service.close();
    },
  };
}
