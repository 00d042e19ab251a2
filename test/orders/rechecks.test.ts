import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { OrderClient } from '../../src/orders/clients.ts';
import type { OrderContext } from '../../src/orders/context.ts';
import { Rechecks } from '../../src/orders/private/rechecks.ts';
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
