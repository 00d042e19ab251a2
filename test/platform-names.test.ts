import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PLATFORM_NAMES, PLATFORMS } from '../src/core/model.ts';

const ROOT = new URL('..', import.meta.url).pathname;
/** Where a platform's name may stand: its own folder, and one line in each registry. */
const REGISTRIES = new Set([
  'src/core/config.ts',
  'src/core/model.ts',
  'src/platforms/manifests.ts',
  'src/platforms/registry.ts',
  'sql/schema/001_platforms.sql',
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

/**
 * Texts that say what is so on one platform alone, with the greatest number of their lines; what is so on every platform is generated
 * from the registries (VOLUME_UNIT, optionalPlatformParam).
 */
const FACTS: Record<string, number> = {
  'src/core/settings.ts': 19,
  'src/schemas/portfolio.ts': 7,
  'src/routes/batches.ts': 1,
  'src/routes/events.ts': 1,
  'src/routes/market-trades.ts': 1,
  'src/routes/markets.ts': 1,
  'src/routes/portfolio.ts': 1,
  'src/schemas/analytics.ts': 1,
  'src/schemas/events.ts': 3,
  'src/schemas/markets.ts': 4,
  'src/schemas/metrics.ts': 9,
  'src/schemas/order-book.ts': 1,
  'src/schemas/parameters.ts': 1,
  'src/schemas/whale-trades.ts': 5,
};
const DISPLAYED = new RegExp(`(['"\`]).*\\b(?:${Object.values(PLATFORM_NAMES).join('|')})\\b`);

test('texts outside the folder of a platform name platforms only where they state facts of one', () => {
  const files = ['src', 'ingest'].flatMap((top) =>
    readdirSync(ROOT + top, { recursive: true, encoding: 'utf8' })
      .map((name) => `${top}/${name}`)
      .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('src/platforms/') && !REGISTRIES.has(name)),
  );
  const lines = files.map((name) => {
    const named = readFileSync(ROOT + name, 'utf8')
      .split('\n')
      .filter((line) => DISPLAYED.test(line) && !/^\s*(\/?\*|\/\/)/.test(line));
    return [name, named.length] as const;
  });
  expect(lines.filter(([name, count]) => count > (FACTS[name] ?? 0))).toEqual([]);
});
