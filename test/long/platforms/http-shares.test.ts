import { generateKeyPairSync } from 'node:crypto';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { PlatformError } from '../../../src/core/errors.ts';
import { createPlatformHttp } from '../../../src/platforms/http/client.ts';
import { accountName } from '../../../src/platforms/http/limit-group.ts';
import { budgetKind } from '../../../src/platforms/http/limit-groups.ts';
import { createKalshiAccount } from '../../../src/platforms/kalshi/signed-client.ts';
import { openShared } from '../../../src/stores/shared/open.ts';
import type { Shared } from '../../../src/stores/shared/shared.ts';
import { SETTINGS } from '../../fixtures/canned-http.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { silent } from '../../helpers/silent-log.ts';
import { describeShares } from '../../platforms/shares.ts';
import { createSimServer, json } from '../../simulators/lib/index.ts';

const clock = flowingClock();
const markets = { byRef: async () => new Map() };
const opened: Shared[] = [];
const open = async (): Promise<Shared> => {
  const shared = await openShared({ REDIS_URL: undefined }, silent, { clock });
  opened.push(shared);
  return shared;
};
afterEach(async () => {
  for (const shared of opened.splice(0)) await shared.close();
});

describeShares('in one process', clock, async () => [await open()]);

test('a refusal names the budget, and nothing of the credential it is kept for', async () => {
  const shared = await open();
  const budgets = new Set<string>();
  const takeBudget: Shared['takeBudget'] = (budget, ...rest) => {
    budgets.add(budget.name);
    return shared.takeBudget(budget, ...rest);
  };
  const server = await createSimServer({ handle: () => json(200, {}) });
  onTestFinished(() => server.close());
  const http = createPlatformHttp({ shared: { ...shared, takeBudget }, log: silent, clock });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const credential = {
    api_key_id: '0f5c2a7e-58d1-4f2b-9c3e-7b1d6a90e4f8',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  const settings = { ...SETTINGS, KALSHI_API_URL: server.origin };
  const access = { credential, priority: 'live' } as const;
  const account = createKalshiAccount({ http, settings, now: clock.now }, { ...access, markets, onBadRow() {} });
  const errors = await Promise.all(
    Array.from({ length: 150 }, () =>
      account.send('DELETE', '/orders', null).then(
        () => null,
        (error: PlatformError) => error,
      ),
    ),
  );
  await http.close();
  const refused = errors.filter((error) => error !== null);
  const details = refused.map(({ detail }) => detail);
  expect(details).toContain('kalshi:write: no request budget left');
  // Those that come when the queue is full say so.
  expect(details.filter((detail) => !/^kalshi:write: [a-z ]+$/.test(detail))).toEqual([]);
  expect([...budgets]).toEqual([
    `kalshi:write/live/account/${accountName(credential.api_key_id, credential.private_key)}`,
  ]);
});

test('an account is named by a digest of id and secret: a junk secret draws on another budget', () => {
  const [own, junk] = [accountName('key-id', 'secret'), accountName('key-id', 'junk')];
  expect(own).not.toBe(junk);
  expect(own).not.toContain('key-id');
  expect(budgetKind(`kalshi:read/live/account/${own}`)).toBe('kalshi:read/live/account');
  expect(budgetKind(`kalshi:read/live/account/${own}/user/1`)).toBe('kalshi:read/live/user');
  expect(budgetKind('kalshi:anonymous/callers/user/1')).toBe('kalshi:anonymous/callers/user');
  expect(budgetKind('kalshi:anonymous/callers')).toBe('kalshi:anonymous/callers');
  expect(budgetKind('nothing/of/ours')).toBe('other');
});
