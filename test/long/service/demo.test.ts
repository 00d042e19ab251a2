import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const DEMO = fileURLToPath(new URL('../../simulators/demo.ts', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('../../../src/launch/run.mjs', import.meta.url));
const READY_MS = 240_000;
const run = promisify(execFile);

/** `npm run demo` in a process of its own. */
class Demo {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  text = '';

  constructor() {
    this.#child = spawn(process.execPath, [LAUNCHER, DEMO], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.#child.on('exit', resolve);
    });
  }

  /** What `pattern` catches in the output, once it is there. */
  async said(pattern: RegExp): Promise<string> {
    for (const until = performance.now() + READY_MS; performance.now() < until; await sleep(50)) {
      const found = pattern.exec(this.text);
      if (found) return found[1] ?? found[0];
      if (this.#child.exitCode !== null) break;
    }
    throw new Error(`the demo never said ${pattern}:\n${this.text.slice(-3000)}`);
  }

  /** Ctrl-C in a terminal under npm: the signal comes twice. */
  async interrupt(): Promise<number | null> {
    this.#child.kill('SIGINT');
    await sleep(50);
    this.#child.kill('SIGINT');
    return this.ended;
  }
}

let demo: Demo;
beforeAll(async () => {
  demo = new Demo();
  await demo.said(/Forecastle is ready/);
}, READY_MS + 5000);
afterAll(() => demo.interrupt());

test('names a base URL, a key, and users of two platforms that have trades and positions', async () => {
  const url = await demo.said(/base URL +(http:\/\/127\.0\.0\.1:\d+)$/m);
  const key = await demo.said(/API key +(pk_[\w-]{49})$/m);
  const nickname = await demo.said(/Kalshi nickname +(\S+)$/m);
  const address = await demo.said(/Polymarket address +(0x[0-9a-fA-F]{40})$/m);
  for (const user of [`provider=kalshi&user=${nickname}`, `provider=polymarket&user=${address}`]) {
    for (const kind of ['trades', 'positions']) {
      const reply = await fetch(`${url}/v1/api/profile/${kind}?${user}`, { headers: { 'x-api-key': key } });
      const body = (await reply.json()) as Record<string, unknown[]>;
      expect([user, kind, body[kind]?.length === 0]).toEqual([user, kind, false]);
    }
  }
});

test('prints the address of the explorer first, which signs in a browser on this machine and nobody else', async () => {
  const address = await demo.said(/^Explorer: (http:\/\/127\.0\.0\.1:\d+\/)$/m);
  const page = await fetch(address, { headers: { accept: 'text/html' } });
  const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect(cookie).toMatch(/^jwt=/);
  const me = (headers: Record<string, string>) => fetch(`${address}v1/api/auth/me`, { headers });
  expect([(await me({ cookie })).status, (await me({})).status]).toEqual([200, 401]);
  // A name that another site may point at this machine.
  const elsewhere = await run('curl', ['-si', '-H', 'Host: evil.example', '-H', 'Accept: text/html', address]);
  expect(elsewhere.stdout).not.toMatch(/set-cookie/i);
});

test('every command it prints works when it is pasted, in the order printed', async () => {
  await demo.said(/npm run user .*\n\n$/);
  const all = demo.text.match(/^ {2}curl .*$/gm) ?? [];
  const lines = all.filter((line) => !line.startsWith('  curl -N'));
  expect(lines.length).toBeGreaterThan(20);
  const stream = all.find((line) => line.startsWith('  curl -N')) ?? '';
  // A stream does not end by itself.
  expect((await run('bash', ['-c', `${stream} --max-time 60 | grep -m 1 '^event: trade'`])).stdout).toContain('trade');
  const answers = new Map<string, string>();
  for (const line of lines) {
    const { stdout } = await run('bash', ['-c', `${line} -w '\\n%{http_code}'`], { maxBuffer: 1 << 24 });
    const [, body = '', status = ''] = /^([^]*)\n(\d+)$/.exec(stdout) ?? [];
    expect([line, body.slice(0, 500), status]).toEqual([line, expect.any(String), expect.stringMatching(/^20[01]$/)]);
    answers.set(line, body);
  }
  // Answers with something in them: rows, an order that was filled, an order that was cancelled.
  const of = (part: string): string => [...answers].find(([line]) => line.includes(part))?.[1] ?? '';
  expect(of('/markets/trades?')).toContain('"trade_id"');
  expect(of('/price-history?')).toContain('"timestamp"');
  expect(of('/trades/whales?')).toContain('"trade_id"');
  expect(of('"platform":"kalshi"')).toContain('"status":"open"');
  expect(JSON.parse(of('"platform":"limitless"'))).toMatchObject({ order: { status: 'filled', filled_size: 10 } });
  // The book may have moved since it was read: a market order keeps its worst price.
  expect(of('"platform":"polymarket"')).toMatch(/"status":"(filled|cancelled)"/);
  expect(of('-X DELETE')).toContain('"cancelled":true');
  expect(of('v_trades').trim().split('\n')).toHaveLength(3);
});

test('commands that it prints work beside it', { timeout: 180_000 }, async () => {
  const lines = demo.text.match(/^ {2}DATA_DIR=\S+ npm run .*$/gm) ?? [];
  const target = await mkdtemp(join(tmpdir(), 'forecastle-demo-test-'));
  try {
    const said = async (line = ''): Promise<string> =>
      (await run('bash', ['-c', line.replace(' history', ` ${target}`).replace('npm run', 'npm run -s')])).stdout;
    const [query, files, users, ...others] = lines;
    expect(await said(query)).toContain('polymarket\t');
    // The first day files are there half a minute after the start.
    const tried = () => said(files).catch(({ stderr }: { stderr: string }) => stderr);
    await expect.poll(tried, { timeout: 120_000, interval: 3000 }).toMatch(/files written/);
    expect(await said(users)).toContain('@');
    expect(others).toEqual([]);
  } finally {
    await rm(target, { recursive: true, force: true });
  }
});

test('ends on Ctrl-C and leaves nothing behind, even while it is starting', { timeout: 180_000 }, async () => {
  const young = new Demo();
  const directories = [await young.said(/data in (\S+) /), await demo.said(/data in (\S+) /)];
  expect(existsSync(directories[0] ?? '')).toBe(true);
  expect(await Promise.all([young.interrupt(), demo.interrupt()])).toEqual([0, 0]);
  expect(directories.map((one) => existsSync(one))).toEqual([false, false]);
});
