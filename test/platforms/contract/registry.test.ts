import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PLATFORMS } from '../../../src/core/model.ts';

test.each(PLATFORMS)(
  '%s has a file that runs the tests of every platform, and one with their short part',
  (platform) => {
    const file = (name: string) => readFileSync(new URL(`../${platform}/${name}.test.ts`, import.meta.url), 'utf8');
    expect(file('pipeline')).toMatch(new RegExp(`^contractOf\\('${platform}', `, 'm'));
    expect(file('first-sync')).toMatch(new RegExp(`^firstSyncOf\\('${platform}'\\);`, 'm'));
  },
);
