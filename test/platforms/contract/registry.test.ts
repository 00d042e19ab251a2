import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PLATFORMS } from '../../../src/core/model.ts';

const file = (path: string) => readFileSync(new URL(`../../${path}.test.ts`, import.meta.url), 'utf8');

test.each(PLATFORMS)(
  '%s has a file that runs the tests of every platform, and one with their short part',
  (platform) => {
    expect(file(`long/platforms/${platform}/pipeline`)).toMatch(new RegExp(`^contractOf\\('${platform}', `, 'm'));
    expect(file(`platforms/${platform}/dirty`)).toMatch(new RegExp(`^dirtyOf\\('${platform}', `, 'm'));
  },
);
