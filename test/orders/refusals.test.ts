import { expect, test } from 'vitest';
import { REFUSALS } from '../../src/orders/refusals.ts';
import { docsTable } from '../helpers/docs-table.ts';

test('the guide lists every refusal of an order that is the same on each platform', async () => {
  expect(await docsTable('Refusals', 'On every platform')).toEqual(
    Object.values(REFUSALS).map(({ message, resolution }) => [
      message.replace('<platform>', '_platform_'),
      `${resolution}.`,
    ]),
  );
});
