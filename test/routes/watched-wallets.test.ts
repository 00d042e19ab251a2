import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { registered } from '../helpers/browser.ts';

const WATCHED = '/v1/api/auth/watched-wallets';
const wallet = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const addressesOf = (answer: { json: () => { wallets: { address: string }[] } }): string[] =>
  answer.json().wallets.map(({ address }) => address);

test('a user watches wallets, each once and in lower case, and sees none of another user', async () => {
  const browser = await registered(service);
  const other = await registered(service);
  const mixed = '0xABCDEFabcdef0000000000000000000000000001';
  expect(addressesOf(await browser.get(WATCHED))).toEqual([]);
  expect(addressesOf(await browser.post(WATCHED, { address: mixed }))).toEqual([mixed.toLowerCase()]);
  expect(addressesOf(await browser.post(WATCHED, { address: wallet(2) }))).toEqual([mixed.toLowerCase(), wallet(2)]);
  expect(addressesOf(await browser.post(WATCHED, { address: mixed.toLowerCase() }))).toHaveLength(2);
  expect(addressesOf(await other.get(WATCHED))).toEqual([]);
  expect((await other.delete(`${WATCHED}/${mixed}`)).statusCode).toBe(200);
  expect(addressesOf(await browser.get(WATCHED))).toHaveLength(2);
  expect(addressesOf(await browser.delete(`${WATCHED}/${mixed}`))).toEqual([wallet(2)]);
});

test('what is no address is refused, and so is the 101st wallet, however many come at once', async () => {
  const browser = await registered(service);
  const refused = await browser.post(WATCHED, { address: '0x12' });
  expect([refused.statusCode, refused.json().error.error_text]).toEqual([
    400,
    expect.stringContaining('40 hex digits'),
  ]);
  const answers = await Promise.all(
    Array.from({ length: 102 }, (_, n) => browser.post(WATCHED, { address: wallet(n + 1) })),
  );
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.filter((status) => status === 409)).toHaveLength(2);
  expect(addressesOf(await browser.get(WATCHED))).toHaveLength(100);
});
