import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PLATFORMS } from '../src/core/model.ts';

const ROOT = new URL('..', import.meta.url).pathname;
/** Where a platform's name may stand: its own folder, and one line in each registry. */
const REGISTRIES = new Set([
  'src/core/config.ts',
  'src/core/model.ts',
  'src/platforms/credentials.ts',
  'src/platforms/manifests.ts',
  'src/platforms/order-adapters.ts',
  'src/platforms/registry.ts',
  'src/platforms/socket-adapters.ts',
  'sql/schema/022_platforms.sql',
  // Applied before; 022_platforms.sql replaces its view.
  'sql/schema/007_windows.sql',
  // Repairs rows of one platform.
  'sql/schema/030_protocol_v2_refs.sql',
]);
const NAMED = new RegExp(`(['"\`])(?:${PLATFORMS.join('|')})(?::[^'"\`]*)?\\1|^\\s*(?:${PLATFORMS.join('|')}):`);

test('no line outside the folder of a platform and the registries names a platform', () => {
  const files = ['src', 'ingest', 'sql'].flatMap((top) =>
    readdirSync(ROOT + top, { recursive: true, encoding: 'utf8' }).map((name) => `${top}/${name}`),
  );
  const code = files.filter((name) => /\.(tsx?|sql)$/.test(name) && !REGISTRIES.has(name));
  const named = code
    .filter((name) => !PLATFORMS.some((platform) => name.startsWith(`src/platforms/${platform}/`)))
    .flatMap((name) =>
      readFileSync(ROOT + name, 'utf8')
        .split('\n')
        .flatMap((line, n) =>
          NAMED.test(line) && !/^\s*(\*|\/\/|--)/.test(line) ? [`${name}:${n + 1} ${line.trim()}`] : [],
        ),
    );
  expect(named).toEqual([]);
});
