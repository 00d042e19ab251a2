import { generateKeyPairSync } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCredentials } from '../../src/accounts/credentials.ts';
import { credentials, users } from '../../src/accounts/tables.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { newEmail, registered, type Browser } from '../helpers/browser.ts';
import { swollenPem } from '../helpers/rsa-keys.ts';

const URL = '/v1/api/auth/credentials';
const wallet = generatePrivateKey();
const secret = Buffer.alloc(32, 7).toString('base64');

type Encoding = { type: 'pkcs8' | 'pkcs1'; format: 'pem'; cipher?: string; passphrase?: string };
const rsa = (modulusLength: number, privateKeyEncoding: Encoding = { type: 'pkcs8', format: 'pem' }): string =>
  generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: privateKeyEncoding as { type: 'pkcs8'; format: 'pem' },
  }).privateKey;
const pem = rsa(2048);
const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const kalshi = { platform: 'kalshi', label: 'main', fields: { api_key_id: 'a952bcbe-ec3b-4b5b', private_key: pem } };
const limitless = { platform: 'limitless', label: 'l', fields: { token_id: 't-1', secret, private_key: wallet } };

/** A new user with one stored credential. */
async function store(): Promise<{ userId: string; id: number }> {
  const email = newEmail();
  const person = await registered(service, email);
  const { id } = (await person.post(URL, limitless)).json();
  const [user] = await service.postgres.db.select().from(users).where(eq(users.email, email));
  return { userId: user?.id ?? '', id };
}

test('a credential is stored, listed and read without its secrets, and deleted', async () => {
  const person = await registered(service);
  const answer = await person.post(URL, kalshi);
  expect(answer.statusCode).toBe(201);
  const made = answer.json();
  expect(made).toMatchObject({ platform: 'kalshi', label: 'main', is_default: true });
  expect(Object.keys(made).toSorted()).toEqual(['created_at', 'id', 'is_default', 'label', 'meta', 'platform']);
  const list = await person.get(URL);
  expect(list.json().credentials).toMatchObject([{ id: made.id, platform: 'kalshi' }]);
  const one = await person.get(`${URL}/${made.id}`);
  expect(one.json()).toEqual({ ...made, meta: { request_time: expect.any(Number) } });
  expect(answer.body + list.body + one.body).not.toMatch(/PRIVATE KEY|a952bcbe/);
  expect((await person.delete(`${URL}/${made.id}`)).json()).toMatchObject({ id: made.id, deleted: true });
  expect((await person.get(URL)).json().credentials).toEqual([]);
  expect((await person.get(`${URL}/${made.id}`)).statusCode).toBe(404);
});

test('the first of a platform is the default, a new default replaces it, a deleted one is followed by the newest', async () => {
  const person = await registered(service);
  const first = (await person.post(URL, kalshi)).json().id;
  const second = (await person.post(URL, { ...kalshi, provider: 'platform_a', platform: undefined })).json().id;
  const third = (await person.post(URL, { ...kalshi, is_default: true })).json().id;
  const other = (await person.post(URL, limitless)).json().id;
  const defaults = async (): Promise<number[]> => {
    const { credentials: rows } = (await person.get(URL)).json();
    return rows.filter((row: { is_default: boolean }) => row.is_default).map((row: { id: number }) => row.id);
  };
  expect(await defaults()).toEqual([third, other]);
  await person.delete(`${URL}/${third}`);
  expect(await defaults()).toEqual([second, other]);
  await person.delete(`${URL}/${first}`);
  expect(await defaults()).toEqual([second, other]);
});

test('parallel new defaults leave exactly one', async () => {
  const person = await registered(service);
  await Promise.all(Array.from({ length: 8 }, () => person.post(URL, { ...kalshi, is_default: true })));
  const { credentials: rows } = (await person.get(URL)).json();
  expect(rows).toHaveLength(8);
  expect(rows.filter((row: { is_default: boolean }) => row.is_default)).toHaveLength(1);
});

test("another user's credential is not found", async () => {
  const owner = await registered(service);
  const { id } = (await owner.post(URL, kalshi)).json();
  const stranger = await registered(service);
  expect((await stranger.get(`${URL}/${id}`)).statusCode).toBe(404);
  expect((await stranger.delete(`${URL}/${id}`)).statusCode).toBe(404);
  expect((await stranger.delete(`${URL}/0`)).statusCode).toBe(400);
  expect((await owner.get(URL)).json().credentials).toHaveLength(1);
});

describe('form checks', () => {
  let person: Browser;
  beforeAll(async () => {
    person = await registered(service);
  });
  const good: [string, string, Record<string, unknown>][] = [
    ['an RSA key', 'kalshi', { api_key_id: 'id', private_key: pem }],
    ['an RSA key in PKCS #1', 'kalshi', { api_key_id: 'id', private_key: rsa(2048, { type: 'pkcs1', format: 'pem' }) }],
    ['an Ed25519 key', 'kalshi', { api_key_id: 'id', private_key: ed25519 }],
    ['a PEM whose line ends were escaped', 'kalshi', { api_key_id: 'id', private_key: pem.replaceAll('\n', '\\n') }],
    ['a wallet alone', 'polymarket', { private_key: wallet }],
    [
      'a wallet without 0x and its own address',
      'polymarket',
      { private_key: wallet.slice(2), funder: privateKeyToAddress(wallet) },
    ],
    [
      'a proxy with its funder',
      'polymarket',
      { private_key: wallet, signature_type: 1, funder: `0x${'ab'.repeat(20)}` },
    ],
    [
      'an API key in full',
      'polymarket',
      { private_key: wallet, api_key: 'k', api_secret: secret, api_passphrase: 'p' },
    ],
    ['a token', 'limitless', limitless.fields],
    ['a token with the matching address', 'limitless', { ...limitless.fields, address: privateKeyToAddress(wallet) }],
  ];
  test.each(good)('%s of %s is accepted', async (_, platform, fields) => {
    const answer = await person.post(URL, { platform, label: 'x', fields });
    expect(answer.body).not.toContain('error');
    expect(answer.statusCode).toBe(201);
  });

  const encrypted = rsa(2048, { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
  const bad: [string, string, Record<string, unknown>, RegExp][] = [
    ['no PEM', 'kalshi', { api_key_id: 'id', private_key: 'MIIE' }, /fields\.private_key: .*PEM/],
    ['half a PEM', 'kalshi', { api_key_id: 'id', private_key: pem.slice(0, 400) }, /fields\.private_key: .*PEM/],
    ['an encrypted PEM', 'kalshi', { api_key_id: 'id', private_key: encrypted }, /unencrypted/],
    [
      'a short RSA key',
      'kalshi',
      { api_key_id: 'id', private_key: rsa(1024) },
      /2048 to 4096 bits \(this one has 1024\)/,
    ],
    [
      'a long RSA key',
      'kalshi',
      { api_key_id: 'id', private_key: rsa(4104) },
      /2048 to 4096 bits \(this one has 4104\)/,
    ],
    ['an RSA key of swollen parts', 'kalshi', { api_key_id: 'id', private_key: swollenPem(pem) }, /parts longer/],
    ['a key of another kind', 'kalshi', { api_key_id: 'id', private_key: p256 }, /RSA or Ed25519 .*ec/],
    ['no key id', 'kalshi', { private_key: pem }, /fields\.api_key_id: text/],
    [
      'a key id no header carries',
      'kalshi',
      { api_key_id: 'ключ', private_key: pem },
      /fields\.api_key_id: text of 1 to 100 ASCII characters without spaces/,
    ],
    ['a token of two lines', 'limitless', { ...limitless.fields, token_id: 't\n1' }, /fields\.token_id: .*ASCII/],
    ['a field too many', 'kalshi', { ...kalshi.fields, pem: 'x' }, /fields: only the fields api_key_id, private_key/],
    ['a wallet key too short', 'polymarket', { private_key: '0x12' }, /64 hex digits/],
    ['a wallet key off the curve', 'polymarket', { private_key: `0x${'f'.repeat(64)}` }, /range of the curve/],
    [
      "another wallet's address",
      'polymarket',
      { private_key: wallet, funder: `0x${'ab'.repeat(20)}` },
      /fields\.funder: the address of private_key/,
    ],
    [
      'a proxy without funder',
      'polymarket',
      { private_key: wallet, signature_type: 2 },
      /fields\.funder: .*signature_type 2/,
    ],
    [
      'half an API key',
      'polymarket',
      { private_key: wallet, api_key: 'k' },
      /all of api_key, api_secret and api_passphrase/,
    ],
    [
      'a secret cut short',
      'limitless',
      { ...limitless.fields, secret: secret.slice(0, -2) },
      /fields\.secret: .*base64/,
    ],
    [
      "another wallet's address",
      'limitless',
      { ...limitless.fields, address: `0x${'ab'.repeat(20)}` },
      /fields\.address/,
    ],
    [
      'two wrong fields at once',
      'limitless',
      { token_id: '', secret: '', private_key: wallet },
      /fields\.token_id: .*fields\.secret: /,
    ],
    [
      'what fails together with what fails by itself',
      'polymarket',
      { private_key: '0x12', signature_type: 2, api_key: 'k', api_passphrase: '' },
      /fields\.private_key: .*fields\.api_passphrase: .*fields\.funder: .*fields\.api_key: all of/,
    ],
    [
      "another wallet's address beside a bad secret",
      'limitless',
      { ...limitless.fields, secret: '', address: `0x${'ab'.repeat(20)}` },
      /fields\.secret: .*fields\.address: the address of private_key/,
    ],
  ];
  test.each(bad)('%s of %s is refused, saying what to fix', async (_, platform, fields, rule) => {
    const answer = await person.post(URL, { platform, label: 'x', fields });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.error_text).toMatch(rule);
    expect(answer.body).not.toMatch(/MII|PRIVATE KEY-----\\n|7BwcHBwc/);
    expect(answer.body).not.toContain(wallet.slice(2));
  });

  test('a label that no store takes is refused', async () => {
    const answer = await person.post(URL, { ...limitless, label: 'a\u0000b' });
    expect([answer.statusCode, answer.json().error.message]).toEqual([400, 'Invalid request: label']);
  });

  test('fields of the platform are listed with the others that fail', async () => {
    const fields = { api_key_id: '', private_key: 'MIIE' };
    const answer = await person.post(URL, { platform: 'kalshi', label: '', is_default: 'yes', fields });
    expect(answer.json().error.message).toBe(
      'Invalid request: label, is_default, fields.api_key_id, fields.private_key',
    );
  });
});

describe('sealing', () => {
  const keys = [{ id: 'k1', key: Buffer.alloc(32, 1) }];

  test('opens for its user and platform, by id and as the default, with the fields as given', async () => {
    const { userId, id } = await store();
    const opened = createCredentials(service.postgres.db, service.config.credentialKeys);
    expect(await opened.open(userId, 'limitless')).toEqual({ id, fields: limitless.fields });
    expect(await opened.open(userId, 'limitless', id)).toEqual({ id, fields: limitless.fields });
    expect(await opened.open(userId, 'kalshi')).toBeNull();
    expect(await opened.open(userId, 'kalshi', id)).toBeNull();
    const { userId: stranger } = await store();
    expect(await opened.open(stranger, 'limitless', id)).toBeNull();
  });

  test('of several users are read defaults first, then the newest', async () => {
    const [ann, bob] = [await store(), await store()];
    const own = createCredentials(service.postgres.db, service.config.credentialKeys);
    const add = () => own.store(ann.userId, 'limitless', 'another', limitless.fields as never, false);
    const [second, third] = [await add(), await add()];
    const listed = await own.ofUsers([ann.userId, bob.userId]);
    expect(listed.map(({ id }) => id)).toEqual([bob.id, ann.id, third.id, second.id]);
    await service.postgres.db.delete(credentials);
  });

  test('nothing of the secret is in the table, and two seals of one text differ', async () => {
    const [a, b] = [await store(), await store()];
    const rows = await service.postgres.db.select().from(credentials);
    const sealed = [a, b].map(({ id }) => rows.find((row) => row.id === id)?.sealed ?? '');
    expect(sealed[0]).not.toBe(sealed[1]);
    for (const text of sealed) expect(Buffer.from(text, 'base64').toString('latin1')).not.toContain('t-1');
  });

  test('a row moved to another user does not open, nor does one that was changed or whose key is missing', async () => {
    const { db } = service.postgres;
    const [mine, theirs] = [await store(), await store()];
    const vault = createCredentials(db, service.config.credentialKeys);
    const [row] = await db.select().from(credentials).where(eq(credentials.id, mine.id));
    await db.update(credentials).set({ sealed: row?.sealed }).where(eq(credentials.id, theirs.id));
    await expect(vault.open(theirs.userId, 'limitless')).rejects.toThrow('The stored credential cannot be opened');
    const bytes = Buffer.from(row?.sealed ?? '', 'base64');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await db
      .update(credentials)
      .set({ sealed: bytes.toString('base64') })
      .where(eq(credentials.id, mine.id));
    await expect(vault.open(mine.userId, 'limitless')).rejects.toThrow('The stored credential cannot be opened');
    await expect(
      createCredentials(
        db,
        keys.map(({ key }) => ({ id: 'other', key })),
      ).open(mine.userId, 'limitless'),
    ).rejects.toThrow('The stored credential cannot be opened');
    await db.delete(credentials);
  });

  test('rotation seals everything under the newest key, after which the old one is not needed', async () => {
    const { db } = service.postgres;
    const { userId, id } = await store();
    await store();
    const newest = { id: 'k2', key: Buffer.alloc(32, 2) };
    const both = createCredentials(db, [newest, ...service.config.credentialKeys]);
    expect(await both.rotate()).toEqual({ sealed: 2, failed: [] });
    expect(await both.rotate()).toEqual({ sealed: 0, failed: [] });
    expect(await createCredentials(db, [newest]).open(userId, 'limitless')).toEqual({ id, fields: limitless.fields });
    await db.delete(credentials);
  });

  test('rotation passes over what it cannot open, and says which', async () => {
    const { db } = service.postgres;
    const lost = await store();
    await db.update(credentials).set({ keyId: 'lost' });
    const { userId, id } = await store();
    const newest = { id: 'k2', key: Buffer.alloc(32, 2) };
    const { sealed, failed } = await createCredentials(db, [newest, ...service.config.credentialKeys]).rotate();
    expect(sealed).toBe(1);
    expect(failed).toEqual([`CREDENTIALS_KEY lacks the key lost, which sealed credential ${lost.id}`]);
    expect(await createCredentials(db, [newest]).open(userId, 'limitless')).toEqual({ id, fields: limitless.fields });
    await db.delete(credentials);
  });
});
