import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockAt } from '../helpers/virtual-clock.ts';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { RECENT_MS } from '../../src/routes/sign-in.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { signIn } from './demo-sign-in.ts';

const KEY = newApiKey();
let time = Date.now();
let service: TestApp;
beforeAll(async () => {
  service = await startTestApp({ env: { DEMO_API_KEY: KEY }, extend: signIn(KEY), clock: clockAt(() => time) });
}, 120_000);
afterAll(() => service.close());

const createKey = async (cookie: string, remoteAddress: string): Promise<number> => {
  const answer = await service.app.inject({
    method: 'POST',
    url: '/v1/api/auth/api-keys',
    remoteAddress,
    headers: { cookie, host: 'localhost' },
    payload: { name: 'made on a page' },
  });
  return answer.statusCode;
};

test('a page that was opened long ago still makes keys, on this machine alone', async () => {
  const page = await service.app.inject({
    url: '/account',
    remoteAddress: '127.0.0.1',
    headers: { accept: 'text/html', host: 'localhost' },
  });
  const cookie = String(page.headers['set-cookie']).split(';')[0] ?? '';
  time += 2 * RECENT_MS;
  expect(await createKey(cookie, '10.1.2.3')).toBe(403);
  expect(await createKey(cookie, '127.0.0.1')).toBe(201);
});
