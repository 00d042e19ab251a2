import { describe, expect, test } from 'vitest';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
import { SETTINGS, cannedHttp, readContext } from '../../fixtures/canned-http.ts';
import { eventRow, marketRow, seriesRow } from '../../fixtures/kalshi/rows.ts';

const leg = (market_ticker: string, change: object = {}) => ({
  event_ticker: 'KXOTTERCUP-26OCT08REDBLU',
  market_ticker,
  side: 'yes',
  ...change,
});
const comboRow = (ticker: string, change: object = {}) =>
  marketRow({
    ticker,
    event_ticker: `${ticker}-E`,
    title: 'yes Bluewater,no Redrock',
    yes_sub_title: 'yes Bluewater,no Redrock',
    mve_collection_ticker: 'KXMVEMIXED-R',
    mve_selected_legs: [leg('BLU'), leg('RED', { side: 'no', yes_settlement_value_dollars: '0.5000' })],
    ...change,
  });

function adapter(rows: object[]) {
  const http = cannedHttp((path, query) => {
    if (path === '/markets') {
      const wanted = (query.get('tickers') ?? '').split(',');
      return { markets: rows.filter((row) => wanted.includes((row as { ticker: string }).ticker)), cursor: '' };
    }
    if (path === '/events') return { events: [], cursor: '' };
    if (path.startsWith('/events/')) {
      return { event: eventRow({ event_ticker: path.slice('/events/'.length), series_ticker: 'KXMVEMIXED' }) };
    }
    return { series: seriesRow({ ticker: 'KXMVEMIXED', category: 'Exotics' }) };
  });
  const data = createKalshiData({ http, settings: SETTINGS, now: () => Date.UTC(2026, 9, 6) });
  return { http, data, context: readContext() };
}
const read = async (change: object) => {
  const { data, context } = adapter([comboRow('MIX', change)]);
  const [record] = await data.unlisted!(['MIX'], context);
  return { record, warnings: context.badRows };
};

describe('a combination', () => {
  test('has its legs in metadata, by our ids, with what a settled one paid', async () => {
    const { record, warnings } = await read({});
    expect(record?.info.metadata).toMatchObject({
      is_combo: true,
      mve_collection_ticker: 'KXMVEMIXED-R',
      legs: [
        { id: 'kalshi:BLU', market_id: 'BLU', event_id: 'KXOTTERCUP-26OCT08REDBLU', side: 'yes' },
        { id: 'kalshi:RED', market_id: 'RED', event_id: 'KXOTTERCUP-26OCT08REDBLU', side: 'no', yes_payout: 0.5 },
      ],
    });
    expect(record?.info).toMatchObject({ seriesId: 'KXMVEMIXED', title: 'yes Bluewater,no Redrock' });
    expect(warnings).toEqual([]);
  });

  test.each([
    ['a side that is neither', [leg('BLU'), leg('RED', { side: 'maybe' })]],
    ['a leg without a market', [leg('BLU'), leg('')]],
    ['a leg that is no object', [leg('BLU'), 7]],
    ['legs that are no list', { BLU: 'yes' }],
  ])('with %s has no legs rather than others, and stays one', async (_, mve_selected_legs) => {
    const { record, warnings } = await read({ mve_selected_legs });
    expect(record?.info.metadata).toMatchObject({ is_combo: true });
    expect(record?.info.metadata['legs']).toBeUndefined();
    expect(warnings).toEqual([expect.objectContaining({ id: 'MIX', field: 'mve_selected_legs' })]);
  });

  test.each(['', null, undefined, 'n/a', '81', {}])('keeps its legs where one has paid %j', async (paid) => {
    const legs = [leg('BLU', { yes_settlement_value_dollars: paid }), leg('RED', { yes_settlement_value_dollars: 1 })];
    const { record, warnings } = await read({ mve_selected_legs: legs });
    expect(record?.info.metadata['legs']).toEqual([
      { id: 'kalshi:BLU', market_id: 'BLU', event_id: 'KXOTTERCUP-26OCT08REDBLU', side: 'yes' },
      expect.objectContaining({ market_id: 'RED', yes_payout: 1 }),
    ]);
    const isOdd = paid !== '' && paid !== null && paid !== undefined;
    const field = 'mve_selected_legs[].yes_settlement_value_dollars';
    expect(warnings.map((warning) => warning.field)).toEqual(isOdd ? [field] : []);
  });

  test('without a collection is known by its legs', async () => {
    const { record } = await read({ mve_collection_ticker: '' });
    expect(record?.info.metadata['is_combo']).toBe(true);
  });
});

test('another market is no combination', async () => {
  const { data, context } = adapter([marketRow({ ticker: 'BLU' })]);
  const [record] = await data.unlisted!(['BLU'], context);
  expect(record?.info.metadata).not.toHaveProperty('is_combo');
  expect(record?.info.metadata).not.toHaveProperty('legs');
});

test('combinations are read sixty at a time, their events one by one and once', async () => {
  const tickers = Array.from({ length: 70 }, (_, n) => `MIX-${n}`);
  const { http, data, context } = adapter(tickers.slice(1).map((ticker) => comboRow(ticker)));
  const records = await data.unlisted!(tickers, context);
  expect(records.map(({ info }) => info.ref)).toEqual(tickers.slice(1));
  await data.unlisted!(tickers, context);
  const asked = http.asked.map((url) => url.replace(/tickers=.*/, ''));
  expect(asked.filter((url) => url.startsWith('/markets'))).toEqual(Array(4).fill('/markets?limit=60&'));
  expect(asked.filter((url) => url.startsWith('/events?'))).toEqual([]);
  expect(asked.filter((url) => url.startsWith('/events/'))).toHaveLength(69);
});
