import { describe, expect, test } from 'vitest';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
import { KalshiEvent, KalshiMarket, KalshiSeries } from '../../../src/platforms/kalshi/wire.ts';
import { SETTINGS, cannedHttp, collect, readContext } from '../../fixtures/canned-http.ts';
import { centsMarketRow, eventRow, marketRow, seriesRow, tradeRow } from '../../fixtures/kalshi/rows.ts';
import { isWarned, ODD, type Row, stored, without } from '../odd-values.ts';

const ODD_HERE = [...ODD, ['Source A']];

const MARKET: Row = marketRow({
  occurrence_datetime: '2026-10-09T01:15:00Z',
  settlement_ts: '2026-10-12T01:15:00Z',
  settlement_timer_seconds: 300,
  settlement_bounds_type: 'floor',
  settlement_floor_dollars: '0.3000',
  settlement_value_dollars: '0.5000',
  settlement_value: 50,
  early_close_condition: 'It closes early once a winner is declared.',
  tick_size: 1,
  floor_strike: 4,
  cap_strike: 5.5,
  functional_strike: 'x > 4',
  mve_collection_ticker: 'KXCOMBO',
  mve_selected_legs: [{ event_ticker: 'E', market_ticker: 'M', side: 'yes' }],
  is_provisional: true,
});
const EVENT: Row = eventRow({
  settlement_sources: [{ name: 'League', url: 'https://own.example/' }],
  fee_type_override: 'flat',
  fee_multiplier_override: 0.5,
});
const SERIES: Row = seriesRow({ frequency: 'weekly', categories: ['Sports', 'Otters'] });
const NEIGHBOUR = marketRow({
  ticker: 'KXOTTERCUP-26OCT08REDBLU-RED',
  title: 'Redrock wins',
  yes_sub_title: 'Redrock',
});

async function sweep({ market = MARKET, event = EVENT, series = SERIES }: { market?: Row; event?: Row; series?: Row }) {
  const http = cannedHttp((path) => {
    if (path === '/events') return { events: [event], cursor: '' };
    return path === '/markets' ? { markets: [market, NEIGHBOUR], cursor: '' } : { series };
  });
  const data = createKalshiData({ http, settings: SETTINGS, now: () => Date.UTC(2026, 9, 6) });
  const context = readContext();
  const pages = await collect(data.sweep({ kind: 'open' }, context));
  const records = pages.flatMap(({ markets }) => markets).map(stored);
  const of = (ticker: unknown) => records.find(({ info }) => info.ref === ticker);
  return { market: of(MARKET.ticker), neighbour: of(NEIGHBOUR.ticker), warnings: context.badRows };
}

const NUMBERS = new Set(['floor_strike', 'cap_strike']);

/** An odd value counts as absent, with a warning unless that is what it says; or as its text. */
async function expectAbsentOrText(part: 'market' | 'event' | 'series', row: Row, field: string, odd: unknown) {
  const read = (given: Row) => sweep({ [part]: given });
  const given = await read({ ...row, [field]: odd });
  const absent = await read(without(row, field));
  expect(given.market).toBeDefined();
  if (isWarned(given.warnings, field) || odd === null || odd === '') expect(given.market).toEqual(absent.market);
  else if (!NUMBERS.has(field)) {
    const readable = typeof odd === 'number' ? String(odd) : odd;
    expect(given.market).toEqual((await read({ ...row, [field]: readable })).market);
  }
  expect(given.neighbour?.state).toEqual(absent.neighbour?.state);
  expect(given.warnings.every((warning) => (warning.field ?? '') !== '' && warning.reason !== '')).toBe(true);
}

const ALONE = new Set(['ticker', 'event_ticker', 'series_ticker', 'status', 'markets']);
const fieldsOf = (schema: { shape: object }) => Object.keys(schema.shape).filter((field) => !ALONE.has(field));

describe('a field of another type costs that field', () => {
  test.each(fieldsOf(KalshiMarket))('%s of a market', async (field) => {
    for (const odd of ODD_HERE) await expectAbsentOrText('market', MARKET, field, odd);
  });

  test.each(fieldsOf(KalshiEvent))('%s of an event', async (field) => {
    for (const odd of ODD_HERE) await expectAbsentOrText('event', EVENT, field, odd);
  });

  test.each(fieldsOf(KalshiSeries))('%s of a series', async (field) => {
    for (const odd of ODD_HERE) await expectAbsentOrText('series', SERIES, field, odd);
  });

  test.each([{}, [[]], true, null])('but a market without a readable ticker is left out, alone: %j', async (ticker) => {
    const { market, neighbour, warnings } = await sweep({ market: { ...MARKET, ticker } });
    expect(market).toBeUndefined();
    expect(neighbour?.info.eventName).toBe('Redrock vs Bluewater');
    expect(warnings).toEqual([expect.objectContaining({ kind: 'market', reason: expect.stringContaining('ticker') })]);
    expect(warnings[0]?.field).toBeUndefined();
  });
});

test.each([{}, [3], null, undefined])('a market whose event is %j is stored without it', async (event_ticker) => {
  const { market, neighbour } = await sweep({ market: { ...MARKET, event_ticker } });
  expect(market?.info).toMatchObject({ eventId: '', eventName: '', title: 'Bluewater wins' });
  expect(neighbour?.info.eventName).toBe('Redrock vs Bluewater');
});

test.each([
  [7, 'settled'],
  ['frozen', 'settled'],
  [{}, 'settled'],
  [undefined, 'settled'],
])('a status that cannot be read, %j, does not keep a market from settling', async (status, expected) => {
  const { market, warnings } = await sweep({ market: { ...MARKET, status } });
  expect(market?.state.status).toBe(expected);
  expect(isWarned(warnings, 'status')).toBe(true);
  const unpaid = await sweep({ market: { ...MARKET, status, settlement_ts: undefined } });
  expect(unpaid.market?.state.status).toBe('closed');
});

test.each([
  ['yes_bid_dollars', 'yes_bid'],
  ['yes_ask_dollars', 'yes_ask'],
  ['last_price_dollars', 'last_price'],
  ['volume_fp', 'volume'],
  ['volume_24h_fp', 'volume_24h'],
  ['open_interest_fp', 'open_interest'],
])('a market that has neither %s nor %s is stored without the figure, and counted', async (name, oldName) => {
  const { market, warnings } = await sweep({ market: without(without(MARKET, name), oldName) });
  expect(market?.info.title).toBe('Bluewater wins');
  expect(warnings).toEqual([{ platform: 'kalshi', kind: 'market', id: MARKET.ticker, field: name, reason: 'missing' }]);
  const odd = await sweep({ market: { ...without(MARKET, oldName), [name]: {} } });
  expect(odd.warnings.map(({ field }) => field)).toEqual([name]);
});

test.each(['yes_bid_size_fp', 'yes_ask_size_fp'])(
  'a market that lacks %s has no known liquidity, and is counted',
  async (name) => {
    const open = { ...MARKET, status: 'active', settlement_value_dollars: null, settlement_value: null };
    const { market, warnings } = await sweep({ market: without(open, name) });
    expect([market?.state.liquidity, market?.state.metadata['liquidity_basis']]).toEqual([null, 'none']);
    expect(warnings).toEqual([
      { platform: 'kalshi', kind: 'market', id: MARKET.ticker, field: name, reason: 'missing' },
    ]);
  },
);

test.each([
  ['yes', '0.0000'],
  ['no', '1.0000'],
])('a value that contradicts the result %s is counted', async (result, settlement_value_dollars) => {
  const { warnings } = await sweep({ market: { ...MARKET, result, settlement_value_dollars } });
  expect(warnings.map(({ field }) => field)).toEqual(['settlement_value_dollars']);
  const agreed = result === 'yes' ? '1.0000' : '0.0000';
  const { warnings: none } = await sweep({ market: { ...MARKET, result, settlement_value_dollars: agreed } });
  expect(none).toEqual([]);
});

test.each([-1, '-1', -7])('a shard of %j is none', async (exchange_index) => {
  const { market, warnings } = await sweep({ market: { ...MARKET, exchange_index } });
  expect(market?.info.metadata['exchange_index']).toBe(0);
  expect(warnings.map(({ field }) => field)).toEqual(['exchange_index']);
});

test('rows from before the sizes are not counted for lacking them', async () => {
  const { warnings } = await sweep({ market: centsMarketRow() });
  expect(warnings).toEqual([]);
});

test.each(['volume_fp', 'volume_24h_fp', 'open_interest_fp'])('%s below 0 is unknown, and counted', async (field) => {
  for (const below of ['-0.01', -5]) {
    const { market, warnings } = await sweep({ market: { ...MARKET, [field]: below } });
    expect(market).toEqual((await sweep({ market: { ...MARKET, [field]: {} } })).market);
    expect(warnings).toEqual([expect.objectContaining({ field, reason: expect.stringContaining('below 0') })]);
  }
});

test('sources that are not objects are left out alone, and those of the series stand in for none', async () => {
  const mixed = ['Source A', 7, { url: 'https://own.example/' }, { url: [] }];
  const { market, warnings } = await sweep({ event: { ...EVENT, settlement_sources: mixed } });
  expect(market?.info).toMatchObject({ eventName: 'Redrock vs Bluewater', resolutionSource: 'https://own.example/' });
  expect(new Set(warnings.map(({ field }) => field))).toEqual(
    new Set(['settlement_sources[]', 'settlement_sources[].url']),
  );
  const none = await sweep({ event: { ...EVENT, settlement_sources: ['Source A'] } });
  expect(none.market?.info.resolutionSource).toBe('https://league.example/');
});

test('one odd range of a grid costs the grid; the tick size is then the one that the row states', async () => {
  const price_ranges = [
    { start: '0.0000', end: '0.1000', step: '0.0010' },
    { start: '0.1000', end: {}, step: '0.0100' },
  ];
  const { market, warnings } = await sweep({ market: { ...MARKET, price_ranges } });
  expect(market?.info.metadata).not.toHaveProperty('price_ranges');
  expect(market?.info.metadata['tick_size']).toBe(0.01);
  expect(warnings.map(({ field }) => field)).toEqual(['price_ranges']);
});

test('a trade with an odd flag or an odd one of its three sides is kept', async () => {
  const rows = [
    tradeRow({ trade_id: 'a', is_block_trade: { a: 1 } }),
    tradeRow({ trade_id: 'b', taker_outcome_side: 7 }),
    tradeRow({ trade_id: 'c', taker_outcome_side: 7, taker_book_side: 'x', taker_side: null }),
    tradeRow({ trade_id: 'd', count_fp: [] }),
  ];
  const cutoff = { market_settled_ts: '2026-08-07T00:00:00Z', trades_created_ts: '2026-08-07T00:00:00Z' };
  const http = cannedHttp((path) => (path === '/historical/cutoff' ? cutoff : { trades: rows, cursor: '' }));
  const data = createKalshiData({ http, settings: SETTINGS, now: () => Date.UTC(2026, 9, 7) });
  const context = readContext();
  const query = { sinceUs: Date.UTC(2026, 9, 6) * 1000, untilUs: null, market: null };
  const pages = await collect(data.trades(query, { byRef: async () => new Map() }, context));
  const trades = pages.flatMap((page) => page.trades);
  expect(trades.map(({ tradeId, isBlockTrade }) => [tradeId, isBlockTrade])).toEqual([
    ['a', false],
    ['b', false],
  ]);
  expect(trades[1]).toMatchObject({ side: trades[0]?.side, outcome: trades[0]?.outcome });
  expect(context.badRows.map(({ id, field }) => [id, field])).toEqual([
    ['a', 'is_block_trade'],
    ['b', 'taker_outcome_side'],
    ['c', undefined],
    ['d', undefined],
  ]);
});

test.each([
  'yes_bid_dollars',
  'yes_ask_dollars',
  'last_price_dollars',
  'previous_price_dollars',
  'settlement_value_dollars',
])('a price that is none is as unknown as an absent one: %s', async (field) => {
  for (const odd of ['81', '1.0001', '-0.2000', 3]) {
    const { market, warnings } = await sweep({ market: { ...MARKET, [field]: odd } });
    expect(market).toEqual((await sweep({ market: without(MARKET, field) })).market);
    expect(isWarned(warnings, field)).toBe(true);
  }
});
