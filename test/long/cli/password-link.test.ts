import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startCommand, startProcess } from '../../helpers/process.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'forecastle-link-'));
const service = startProcess('api', { DATA_DIR });
afterAll(async () => {
  service.kill('SIGKILL');
  await service.ended;
  rmSync(DATA_DIR, { recursive: true });
});

/** The address in the link that `npm run user` prints with another PORT than that of the service. */
async function linkedBy(words: string[], env: Record<string, string> = {}): Promise<string | undefined> {
  const command = startCommand('user', words, { DATA_DIR, PORT: '3456', ...env });
  expect(await command.ended, command.output()).toBe(0);
  const address = (): string | undefined => /(http:\S+)\/reset-password#token=/.exec(command.output())?.[1];
  await expect.poll(address).toBeDefined();
  return address();
}

test('the link for a password leads to where the running service listens; without one to the configured PORT', async () => {
  const url = await service.ready;
  expect(await linkedBy(['create', 'ann@example.com'])).toBe(url);
  expect(await linkedBy(['reset', 'ann@example.com'])).toBe(url);
  service.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  const file = join(DATA_DIR, 'api_url');
  expect(existsSync(file)).toBe(false);
  // As a killed service leaves it behind.
  writeFileSync(file, `${url}\n`);
  expect(await linkedBy(['reset', 'ann@example.com'])).toBe('http://127.0.0.1:3456');
  expect(await linkedBy(['reset', 'ann@example.com'], { HOST: '0.0.0.0' })).toBe('http://localhost:3456');
});
