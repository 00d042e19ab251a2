import { expect, test } from 'vitest';
import { progressLine, welcome } from '../../src/observability/terminal.ts';

const CONFIG = { platforms: ['kalshi', 'limitless'] as const, BACKFILL_DAYS: 7 };
const URL = 'http://127.0.0.1:3000';

test('a terminal is told one address, how to make an account and a key, and what is fetched', () => {
  const text = welcome({ ...CONFIG, platforms: [...CONFIG.platforms], registrationOpen: true }, URL);
  expect(text).toMatch(/^Forecastle: http:\/\/127\.0\.0\.1:3000\/\n/);
  expect(text).toContain('register at http://127.0.0.1:3000/account; API keys are made there too');
  expect(text).toContain('every market of kalshi and limitless, and trades of 7 days');
  const closed = welcome({ ...CONFIG, platforms: [...CONFIG.platforms], registrationOpen: false }, URL);
  expect(closed).toMatch(/Account and key: npm run user -- create EMAIL\.$/m);
});

test('the progress of all platforms is one line, whatever is wrong with them', () => {
  const common = { feed: 'polling' as const, socket: null, leftOut: [], jobs: [] };
  const line = progressLine([
    { platform: 'kalshi', status: 'ok', lagSeconds: 12, detail: '', ...common },
    {
      platform: 'polymarket',
      status: 'degraded',
      lagSeconds: null,
      detail: 'the first sync is not complete yet',
      ...common,
    },
    {
      platform: 'limitless',
      status: 'degraded',
      lagSeconds: 900,
      detail: `900 s behind; ${'x'.repeat(500)}`,
      ...common,
    },
  ]);
  expect(line.split('\n')).toHaveLength(2);
  expect(line).toMatch(
    /^kalshi: complete up to 12 s ago · polymarket: the first sync is not complete yet · limitless: 900 s behind; x+\n$/,
  );
  expect(line.length).toBeLessThan(260);
});
