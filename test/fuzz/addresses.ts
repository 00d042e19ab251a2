import type { Rng } from '../simulators/lib/rng.ts';

/** Routes that OpenAPI leaves out. */
export const UNDESCRIBED = [
  '/',
  '/docs',
  '/docs/json',
  '/docs/yaml',
  '/docs/static/index.html',
  '/docs/static/swagger-ui.css',
  '/docs/static/swagger-initializer.js',
  '/metrics',
  '/v1/api/openapi.json',
];

/** What means something to a file system, a URL or a parser. */
const PIECES = [
  '..',
  '.',
  '',
  '%2e%2e',
  '%2E.',
  '..%2f',
  '%2f',
  '%5c',
  '%00',
  '%',
  '%zz',
  '%ff',
  '%C0%AE',
  '%u002e',
  '~',
  '*',
  ':id',
  ';a=b',
  'index.html',
  'swagger-ui.css',
  'swagger-ui.css.map',
  '.git',
  'package.json',
  'etc/passwd',
  '__proto__',
  'constructor',
  'C:',
  'http://elsewhere',
  '@x',
  '[::1]',
  'x'.repeat(300),
  '%41'.repeat(400),
];
const QUERIES = ['', '?', '?a', '?%', '?a=%00', '?__proto__[x]=1', '?limit=1&limit=2', '?provider=kalshi', '#x', '??'];
const METHODLESS = ['*', '//', 'http://', 'http:///x', 'x', '?', '/\\x', '///..//', '/%', 'http://a:b@c:d/e'];

/** Addresses made of a route's own path and of what breaks it; control characters and spaces are left out, which end a request line. */
export function addressMaker(rng: Rng, routes: readonly string[]): () => string {
  const noise = (): string =>
    Array.from({ length: rng.int(1, 12) }, () => String.fromCodePoint(rng.int(33, 255))).join('');
  const piece = (): string => (rng.chance(0.2) ? noise() : rng.pick(PIECES));
  return () => {
    if (rng.chance(0.05)) return rng.pick(METHODLESS);
    const path = rng.pick(routes).split('/');
    for (let changes = rng.int(0, 3); changes > 0; changes -= 1) {
      const at = rng.int(1, path.length);
      path.splice(at, rng.chance(0.5) ? 1 : 0, piece());
    }
    let address = path.join(rng.chance(0.05) ? '//' : '/');
    if (rng.chance(0.2)) address += `/${piece()}`;
    if (rng.chance(0.1)) address = address.slice(0, rng.int(1, address.length));
    return `${address.startsWith('/') ? '' : '/'}${address}${rng.pick(QUERIES)}`;
  };
}
