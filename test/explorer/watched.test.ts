import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BareService, FEEDS, healthOf, LISTED, startBareService } from './bare-service.ts';

const PATIENT = { timeout: 30_000 };
const TEST_MS = 200_000;
const ADDRESS = '0x23607dcccfc5f457f2e5baa285fcfc836d091858';

let service: BareService;
beforeAll(async () => {
  service = await startBareService();
}, TEST_MS);
afterAll(() => service.close());

test(
  'watched wallets are a filter of the list of markets, of the last trades, and of the stream',
  async () => {
    const reader = await service.signedIn();
    const { page } = reader;
    const statements: string[] = [];
    const subscribed: Record<string, unknown>[] = [];
    await reader.answer('health', healthOf(FEEDS.slice(0, 1)));
    await reader.list(LISTED);
    const listed: URLSearchParams[] = [];
    const traded: URLSearchParams[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/api/search') listed.push(searchParams);
      if (pathname === '/v1/api/trades/whales') traded.push(searchParams);
    });
    await page.route(/\/v1\/api\/sql/, (route) => {
      statements.push((route.request().postDataJSON() as { query: string }).query);
      return route.fulfill({ json: { meta: [{ name: 'id', type: 'String' }], data: [] } });
    });
    await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => {
      socket.onMessage((text) => subscribed.push(JSON.parse(String(text)) as Record<string, unknown>));
    });
    await page.goto('/status');
    await page.evaluate(
      `fetch('/v1/api/auth/watched-wallets', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ address: '${ADDRESS}' }) })`,
    );
    statements.length = 0;
    await page.goto('/');
    await page.getByRole('button', { name: 'Watched' }).click(PATIENT);
    await page.waitForURL(/wallets=watched/);
    await expect.poll(() => listed.at(-1)?.get('addresses'), PATIENT).toBe(ADDRESS);
    expect(statements).toEqual([]);
    await page.goto('/overview?wallets=watched');
    await page.getByText('Trades of watched wallets').first().waitFor(PATIENT);
    await expect.poll(() => traded.at(-1)?.get('addresses'), PATIENT).toBe(ADDRESS);
    await expect
      .poll(() => subscribed.find(({ addresses }) => addresses !== undefined), PATIENT)
      .toMatchObject({ channel: 'trades', addresses: [ADDRESS], min_notional: 0 });
    expect(statements).toEqual([]);
    await reader.context.close();
  },
  TEST_MS,
);
