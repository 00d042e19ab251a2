import { afterEach, expect, test } from 'vitest';
import { ConfigError } from '../../src/core/config-error.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { flowingClock } from '../helpers/flowing-clock.ts';
import { silent } from '../helpers/silent-log.ts';
import { describeSharedState } from './shared-state.ts';

const clock = flowingClock();
const opened: Shared[] = [];
const open = async (url?: string): Promise<Shared> => {
  const shared = await openShared({ REDIS_URL: url }, silent, { clock });
  opened.push(shared);
  return shared;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

describeSharedState('in the process', clock, open);

test('a Redis that cannot be reached stops the start with one line that shows no password', async () => {
  const error = await open('redis://user:hidden-password@127.0.0.1:1/0').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toBe('ConfigError: REDIS_URL: no Redis at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1');
});
