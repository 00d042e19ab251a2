import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { OrderClient } from '../../src/orders/clients.ts';
import type { OrderContext } from '../../src/orders/context.ts';
import { Rechecks } from '../../src/orders/private/rechecks.ts';
import { withDeadline } from '../../src/platforms/http/deadline.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

test('an order that is named at the moment at which a reading ends is read too', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const clock = virtualClock();
    const named: string[] = [];
    const store = {
      async matching(_account: unknown, [orderId = '']: string[]) {
        named.push(orderId);
        if (named.length > 1) return [];
        let turn = Promise.resolve();
        for (let n = 0; n < turns; n += 1) turn = turn.then(() => {});
        void turn.then(() => rechecks.add({ orderId: 'B' }));
        return [];
      },
    };
    const context = { clock, now: clock.now, store, log: pino({ level: 'silent' }) } as unknown as OrderContext;
    const rechecks = new Rechecks(context, { account: {} } as unknown as OrderClient);
    rechecks.add({ orderId: 'A' });
    await clock.advance(1000);
    expect([turns, named]).toEqual([turns, ['A', 'B']]);
    await rechecks.stop();
  }
});

const late = (): Error => new Error('late');

test('twelve orders are read at once without a warning of a leak', async () => {
  const clock = virtualClock();
  const warnings: string[] = [];
  const warned = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', warned);
  let asked = 0;
  const client = {
    account: {},
    async find(records: unknown[], signal: AbortSignal) {
      asked = records.length;
      const limit = { ms: 1000, late, cancelled: late };
      await Promise.all(records.map(() => withDeadline(clock, limit, signal, new Set(), () => clock.sleep(10))));
      throw new Error('the platform is away');
    },
  } as unknown as OrderClient;
  const row = { state: 'placed', size: '1', amount: null, expiresAt: null, createdAt: new Date(), recheckAt: null };
  const rows = Array.from({ length: 12 }, (_, n) => ({ ...row, id: String(n) }));
  const store = { matching: async () => rows, recheckLater: async () => {} };
  const context = { clock, now: clock.now, store, log: pino({ level: 'silent' }) } as unknown as OrderContext;
  const rechecks = new Rechecks(context, client);
  rechecks.add({ orderId: 'A' });
  await clock.advance(1000);
  await rechecks.stop();
  process.off('warning', warned);
  expect([asked, warnings]).toEqual([12, []]);
});
