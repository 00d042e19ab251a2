import { expect, test } from 'vitest';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { parseUsd } from '../../src/core/decimal.ts';
import type { Platform } from '../../src/core/model.ts';
import { market } from '../helpers/market-store.ts';

/** Keeps the rows of market_state that a writer sends. */
function openWriter() {
  const states: { platform: string; open_interest: string | null }[] = [];
  const clickhouse = {
    query: async () => [],
    command: async () => {},
    insert: async (table: string, rows: typeof states) => {
      if (table.startsWith('market_state')) states.push(...rows);
    },
  } as unknown as ClickHouse;
  return { writer: new MarketWriter(clickhouse), states };
}

const shared = (platform: Platform) => market({ platform, ref: 'will-it-rain' });

test('markets of two platforms with one reference are both written, each with its own open interest', async () => {
  const { writer, states } = openWriter();
  writer.setOpenInterest('polymarket', 'will-it-rain', { value: parseUsd('5'), at: '2026-11-20T12:00:00.000Z' });
  await writer.write('limitless', [shared('limitless')]);
  await writer.write('polymarket', [shared('polymarket')]);
  expect(states).toMatchObject([
    { platform: 'limitless', open_interest: null },
    { platform: 'polymarket', open_interest: '5' },
  ]);
  await writer.write('limitless', [shared('limitless')]);
  expect(states).toHaveLength(2);
});
