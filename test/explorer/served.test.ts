import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtFiles } from '../../src/explorer/bundle.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const PAGES = ['/', '/market/x%3Ay', '/event/x%3Ay', '/overview', '/sql', '/status', '/account'];
/** Of the document, its style and the scripts that its first page needs, compressed. */
const FIRST_PAGE_BYTES = 150_000;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const get = (url: string, headers: Record<string, string> = {}) =>
  service.app.inject({ url, headers, remoteAddress: service.newAddress() });
const linked = (html: string): string[] => [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);

test('every page is one document that loads its own files only, but for pictures, without inline script or style', async () => {
  for (const url of PAGES) {
    const page = await get(url);
    expect([url, page.statusCode, page.headers['content-type']]).toEqual([url, 200, 'text/html; charset=utf-8']);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self'");
    // Pictures of markets are on hosts of the platforms.
    expect(policy.replace("img-src 'self' data: https:;", '')).not.toMatch(/unsafe|https?:|\*/);
    // The icon is in the page; the name of its language is no address.
    const own = page.body.replace("xmlns='http://www.w3.org/2000/svg'", '');
    expect(own).not.toMatch(/<style|style=|<script>|\son\w+=|https?:\/\//);
    expect(linked(page.body).length).toBeGreaterThan(1);
  }
});

test('with PICTURES=off pages load nothing from other origins', async () => {
  const plain = await startTestApp({ env: { PICTURES: 'off' } });
  const { headers } = await plain.app.inject({ url: '/', remoteAddress: plain.newAddress() });
  await plain.close();
  expect(headers['content-security-policy']).toContain("img-src 'self' data:;");
  expect(headers['content-security-policy']).not.toMatch(/https?:|\*/);
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

test('a browser gets a page at an address that no page has, as 404 under the same policy and never as 304', async () => {
  const home = await get('/');
  for (const url of ['/nothing', '/market/unknown', '/event/', '/market/a/b', '/overview/x', '/%3Cscript%3E?q=1']) {
    const page = await get(url, { accept: BROWSER, 'if-none-match': String(home.headers.etag) });
    expect([url, page.statusCode, page.headers['content-type']]).toEqual([url, 404, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toBe(home.headers['content-security-policy']);
    expect([page.headers.vary, page.headers.etag]).toEqual(['accept, accept-encoding', undefined]);
    expect(page.body).toBe(home.body);
  }
});

test('every other client gets JSON there, and so does everybody under /v1/', async () => {
  const asked: [url: string, accept: string | undefined][] = [
    ['/nothing', undefined],
    ['/nothing', '*/*'],
    ['/nothing', 'application/json, text/html;q=0.5'],
    ['/nothing', 'text/html;q=0'],
    ['/v1/api/nothing', BROWSER],
  ];
  for (const [url, accept] of asked) {
    const answer = await get(url, accept === undefined ? {} : { accept });
    expect([url, accept, answer.statusCode, answer.json()]).toEqual([
      url,
      accept,
      404,
      expect.objectContaining({ error: expect.anything() }),
    ]);
  }
  const wrong = { method: 'POST', url: '/nothing', headers: { accept: BROWSER } } as const;
  const posted = await service.app.inject({ ...wrong, remoteAddress: service.newAddress() });
  expect([posted.statusCode, posted.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
});

test('files have hashed names and are kept for ever; documents are asked for again and answered 304', async () => {
  const page = await get('/');
  expect(page.headers['cache-control']).toBe('no-cache');
  const again = await get('/', { 'if-none-match': String(page.headers.etag) });
  expect([again.statusCode, again.body]).toEqual([304, '']);
  for (const path of linked(page.body)) {
    const file = await get(path);
    expect(path).toMatch(/-[A-Z0-9]{8}\.(js|css)$/);
    expect([file.statusCode, file.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect(file.headers.etag).toMatch(/^"[\w-]{27}"$/);
  }
  expect((await get('/explorer/main-00000000.js')).statusCode).toBe(404);
  expect((await get('/explorer/..%2f..%2fpackage.json')).statusCode).toBe(404);
});

test('pages and their files take nothing from the limit of who is signed in; one address gets 1000 a minute', async () => {
  const { key } = await service.newKey();
  const [, script = ''] = linked((await get('/')).body);
  const remoteAddress = service.newAddress();
  const ask = (url: string) => service.app.inject({ url, headers: { 'x-api-key': key }, remoteAddress });
  const answers = await Promise.all(Array.from({ length: 1010 }, (_, n) => ask(n % 2 === 0 ? '/' : script)));
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1000);
  expect((await ask('/v1/api/health')).headers['x-ratelimit-remaining']).toBe('250');
});

test('the first page takes at most 150 KB compressed, by brotli or gzip', async () => {
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const encoding of ['br', 'gzip'] as const) {
    const seen = new Set<string>();
    const follow = async (path: string): Promise<number> => {
      if (seen.has(path)) return 0;
      seen.add(path);
      const answer = await get(path, { 'accept-encoding': encoding });
      expect([path, answer.headers['content-encoding']]).toEqual([path, encoding]);
      const text = unpack[encoding](answer.rawPayload).toString();
      // Chunks that a script imports at once; import(…) is for pages that are opened later.
      const next = path.endsWith('.js')
        ? [...text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, name = '']) => `/explorer/${name}`)
        : linked(text);
      let bytes = answer.rawPayload.length;
      for (const file of next.filter((name) => name.startsWith('/explorer/'))) bytes += await follow(file);
      return bytes;
    };
    expect(await follow('/')).toBeLessThan(FIRST_PAGE_BYTES);
  }
});

test('what one start bundled is taken by later starts, as long as the sources are the same', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'forecastle-pages-'));
  const file = join(directory, 'built', 'explorer.json');
  try {
    const bundled = await builtFiles(file);
    expect([...bundled.keys()]).toContain('index.html');
    expect(await builtFiles(file)).toEqual(bundled);
    const written = JSON.parse(readFileSync(file, 'utf8')) as { sources: string; files: Record<string, string> };
    const marked = { ...written, files: { ...written.files, 'index.html': 'as written' } };
    writeFileSync(file, JSON.stringify(marked));
    expect((await builtFiles(file)).get('index.html')?.toString()).toBe('as written');
    writeFileSync(file, JSON.stringify({ ...marked, sources: 'of other sources' }));
    expect(await builtFiles(file)).toEqual(bundled);
    writeFileSync(file, JSON.stringify({ ...marked, files: {} }));
    expect(await builtFiles(file)).toEqual(bundled);
    writeFileSync(file, 'cut off');
    expect(await builtFiles(file)).toEqual(bundled);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('pages are served where the folder of bundles cannot be written', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'forecastle-pages-'));
  try {
    // A file where the folder would be: also the user root cannot write into it.
    writeFileSync(join(directory, 'built'), '');
    expect([...(await builtFiles(join(directory, 'built', 'explorer.json'))).keys()]).toContain('index.html');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
