import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PLATFORMS } from '../../../src/core/model.ts';

test.each(PLATFORMS)('%s has a file that runs the tests of every platform', (platform) => {
  const file = readFileSync(new URL(`../${platform}/pipeline.test.ts`, import.meta.url), 'utf8');
  expect(file).toMatch(new RegExp(`^contractOf\\('${platform}', `, 'm'));
});
