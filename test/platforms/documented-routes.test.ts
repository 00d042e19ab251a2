import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PLATFORMS } from '../../src/core/model.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/platforms.md', root), 'utf8');
const placeholders = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

/** The routes in the tables of a platform's section. */
function documented(platform: string): string[] {
  const section = page.split(/^## /m).find((one) => one.toLowerCase().startsWith(platform)) ?? '';
  return [...section.matchAll(/^\| `(?:GET|POST|DELETE) (\/[^`]+)`/gm)].map(([, path = '']) => placeholders(path));
}

/** Every path that an adapter's source writes down, comments left out. */
function called(platform: string): string[] {
  const folder = new URL(`src/platforms/${platform}/`, root);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const paths = files.flatMap((file) => {
    const lines = readFileSync(new URL(file, folder), 'utf8').split('\n');
    const code = lines.filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line)).join('\n');
    return [...code.matchAll(/(['`])(\/[a-z](?:[\w/-]|\$\{[^}]*\})*)(?:\?[^'`]*)?\1/g)].map(([, , path = '']) =>
      path.replaceAll(/\$\{[^}]*\}/g, '{}'),
    );
  });
  return [...new Set(paths)];
}

test.each(PLATFORMS)('docs/platforms.md names every route that is called on %s, and no other', (platform) => {
  expect(called(platform).toSorted()).toEqual([...new Set(documented(platform))].toSorted());
});

test('docs/platforms.md says of each platform when it was last checked', () => {
  const dates = [...page.matchAll(/^Last checked against the documentation: (\d{4}-\d\d-\d\d)\./gm)];
  expect(dates).toHaveLength(PLATFORMS.length);
});
