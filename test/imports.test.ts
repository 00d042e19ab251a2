import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { PLATFORMS } from '../src/core/model.ts';

const ROOT = new URL('..', import.meta.url).pathname;

/** Holds the version. */
const PACKAGE = resolve(ROOT, 'package.json');

const BELOW_ROUTES = [
  'files',
  'http',
  'streams',
  'books',
  'orders',
  'queries',
  'matching',
  'observability',
  'accounts',
  'markets',
  'present',
  'schemas',
  'platforms',
];
const STORES = ['stores', 'embedded', 'core'];

/** Which rooms the files of a room may import, beside their own. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  embedded: ['core'],
  stores: ['embedded', 'core'],
  platforms: ['stores', 'core'],
  schemas: ['core'],
  matching: ['schemas', 'core'],
  present: ['stores', 'core'],
  markets: ['present', 'platforms', 'stores', 'core'],
  accounts: ['platforms', 'stores', 'core'],
  observability: ['platforms', 'stores', 'core'],
  queries: ['matching', 'present', 'markets', 'schemas', 'platforms', 'stores', 'core'],
  books: ['queries', 'markets', 'schemas', 'platforms', 'stores', 'core'],
  streams: ['books', 'queries', 'markets', 'schemas', 'platforms', 'stores', 'core'],
  orders: ['accounts', 'markets', 'schemas', 'platforms', 'stores', 'core'],
  http: ['accounts', 'schemas', 'queries', 'stores', 'core'],
  routes: [...BELOW_ROUTES, ...STORES],
  // Its browser side takes types alone.
  explorer: ['schemas', 'core'],
  files: ['markets', 'stores', 'core'],
  cli: ['accounts', 'files', 'present', ...STORES],
  ingest: ['files', 'books', 'streams', 'matching', 'queries', 'present', 'markets', 'platforms', 'stores', 'core'],
  app: ['explorer', 'routes', ...BELOW_ROUTES, ...STORES],
  service: ['app', 'explorer', 'ingest', 'routes', ...BELOW_ROUTES, ...STORES],
  main: ['service', ...STORES],
  launch: ['explorer', 'embedded'],
};

const IMPORT = /^(?:import|export)\s(?:[^;]*?\sfrom\s)?'(\.[^']+)'|import\('(\.[^']+)'\)/gm;

function importsOf(file: string): string[] {
  const found = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, fixed, lazy]) => fixed ?? lazy ?? '');
  return found.map((path) => resolve(dirname(file), path));
}

const valueImportsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s(?!type\s)(?:[^;]*?\sfrom\s)?'(\.[^']+)'/gm)].map(
    ([, path = '']) => resolve(dirname(file), path),
  );

/** `src/core/time.ts` lies in core, `src/app.ts` in a room of its own, `ingest/trades.ts` in ingest. */
function roomOf(file: string): string {
  const [top, next = ''] = relative(ROOT, file).split('/');
  return top === 'src' ? next.replace(/\.ts$/, '') : (top ?? '');
}

const files = ['src', 'ingest'].flatMap((top) =>
  readdirSync(ROOT + top, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .map((name) => resolve(ROOT, top, name)),
);
const graph = new Map(files.map((file) => [file, importsOf(file)]));

test('no file imports from a room that its own may not import', () => {
  const wrong = files.flatMap((file) => {
    const room = roomOf(file);
    const allowed = MAY_IMPORT[room];
    if (!allowed) return [`${relative(ROOT, file)}: the room ${room} is not in the table`];
    return (graph.get(file) ?? [])
      .filter((target) => roomOf(target) !== room && !allowed.includes(roomOf(target)) && target !== PACKAGE)
      .map((target) => `${relative(ROOT, file)} imports ${relative(ROOT, target)}`);
  });
  expect(wrong).toEqual([]);
});

/** Imports of a room's files out of another room. */
const importsFrom = (room: string, of: (file: string) => string[], target: string) =>
  files
    .filter((file) => roomOf(file) === room)
    .flatMap((file) => of(file).flatMap((path) => (roomOf(path) === target ? [`${file} imports ${path}`] : [])));

test('http takes only types of queries, and platforms only the interfaces of shared state of stores', () => {
  expect(importsFrom('http', valueImportsOf, 'queries')).toEqual([]);
  expect(importsFrom('platforms', valueImportsOf, 'stores')).toEqual([]);
  const interfaces = resolve(ROOT, 'src/stores/shared/shared.ts');
  expect(
    importsFrom('platforms', importsOf, 'stores').filter((line) => !line.endsWith(` imports ${interfaces}`)),
  ).toEqual([]);
});

test('what runs in browsers imports nothing of the server but types', () => {
  const taken = files
    .filter((file) => roomOf(file) === 'explorer' && dirname(file) !== resolve(ROOT, 'src/explorer'))
    .flatMap((file) => valueImportsOf(file).map((target) => ({ file, target })))
    .filter(({ target }) => roomOf(target) !== 'explorer' || dirname(target) === resolve(ROOT, 'src/explorer'));
  expect(taken).toEqual([]);
});

test('no files import each other in a circle, type imports included', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].map((each) => relative(ROOT, each)).join(' → '));
    } else if (!done.has(file)) {
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    }
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test('no folder holds more than 25 source files', () => {
  const folders = [...new Set(files.map((file) => dirname(file)))];
  const full = folders.filter((folder) => files.filter((file) => dirname(file) === folder).length > 25);
  expect(full).toEqual([]);
});

test('no file is longer than 300 lines', () => {
  const long = files.filter((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length > 300);
  expect(long.map((file) => relative(ROOT, file))).toEqual([]);
});

/** Names that two files export, with different meanings. */
const TWICE = new Set([
  'BookMessage',
  'Quote',
  'TradePosition',
  'defaultClients',
  'heldPage',
  'limit',
  'listEvents',
  'marketNames',
  'placeOf',
]);

test('a name that is exported has one meaning, but for adapters of platforms, which resemble each other, and pages', () => {
  const isLeftOut = new RegExp(`^src/(explorer|platforms/(${PLATFORMS.join('|')}))/`);
  const filesOf = new Map<string, string[]>();
  for (const file of files) {
    const name = relative(ROOT, file);
    if (isLeftOut.test(name)) continue;
    const exported = readFileSync(file, 'utf8').matchAll(
      /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm,
    );
    for (const one of new Set(Array.from(exported, ([, found = '']) => found)))
      filesOf.set(one, [...(filesOf.get(one) ?? []), name]);
  }
  const several = [...filesOf].filter(([, of]) => of.length > 1);
  expect(several.filter(([name]) => !TWICE.has(name))).toEqual([]);
});
