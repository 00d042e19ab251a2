import { execFile } from 'node:child_process';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { browser, newEmail, PASSWORD, registered } from '../helpers/browser.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

test('nothing a caller sends as a secret is in the log, at any level, whether requests succeed, fail or break', async () => {
  const person = await registered(service);
  const { key } = (await person.post('/v1/api/auth/api-keys', { name: 'k' })).json();
  const secrets = [PASSWORD, key, person.cookies.get('jwt') ?? '', 'wallet-secret-1', 'wrong-password-2', 'code-3'];
  await person.post('/v1/api/auth/login', { email: newEmail(), password: 'wrong-password-2' });
  await person.post('/v1/api/auth/login', { email: 'x', pasword: 'wrong-password-2', [key]: PASSWORD });
  await person.post('/v1/api/auth/login', `{"password":"${PASSWORD}"`, { 'content-type': 'application/json' });
  const fields = { private_key: 'wallet-secret-1', unknown: PASSWORD };
  await person.post('/v1/api/auth/credentials', { platform: 'limitless', label: 'l', fields });
  await person.get(`/v1/api/auth/google/callback?code=code-3&state=${key}`);
  await person.get(`/v1/api/auth/me?key=${key}`, { 'x-api-key': key, authorization: `Bearer ${key}` });
  // A statement that fails: the driver's error carries it with its values.
  await service.postgres.db.execute(sql`ALTER TABLE users RENAME TO users_away`);
  const broken = await browser(service).post('/v1/api/auth/register', { email: newEmail(), password: PASSWORD });
  await service.postgres.db.execute(sql`ALTER TABLE users_away RENAME TO users`);
  expect(broken.statusCode).toBe(500);
  const logged = service.logged();
  expect(logged).toContain('Internal error');
  expect(logged.split('\n').length).toBeGreaterThan(8);
  for (const secret of secrets) expect(logged).not.toContain(secret);
  expect(logged).not.toMatch(/argon2|insert into/i);
});

test('the format of the log is the one asked for; JSON where its output is no terminal', async () => {
  const log = fileURLToPath(new URL('../../src/core/log.ts', import.meta.url));
  const script = `import { createLog } from ${JSON.stringify(log)};
    for (const LOG_FORMAT of ['json', 'text', 'auto', undefined])
      createLog({ LOG_LEVEL: 'info', LOG_FORMAT }).info({ format: LOG_FORMAT }, 'started');`;
  const options = ['--import', 'tsx', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  const lines = stdout.split('\n').filter((line) => line.includes('started'));
  const json = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { format?: string });
  expect([lines.length, json.map(({ format }) => format)]).toEqual([4, ['json', 'auto', undefined]]);
  expect(lines.find((line) => !line.startsWith('{'))).toMatch(/INFO.*started/);
});

test('values under a secret name are cut out, wherever they are logged', () => {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => void (lines.push(String(chunk)), done()) });
  const log = createLog({ LOG_LEVEL: 'info' }, stream);
  log.info(
    { password: 'a1', body: { private_key: 'a2', token: 'a3' }, headers: { 'x-api-key': 'a4', cookie: 'a5' } },
    'x',
  );
  log.error({ err: new Error(`key pk_${'a'.repeat(49)} is bad`, { cause: new Error(`pk_${'b'.repeat(49)}`) }) });
  expect(lines.join('')).not.toMatch(/a[1-5]"|aaaa|bbbb/);
  expect(lines.join('')).toContain('[redacted] is bad');
});
