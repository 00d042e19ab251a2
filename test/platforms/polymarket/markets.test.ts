import { describe, expect, test } from 'vitest';
import { decimalNumber, parsePrice, parseUsd, PRICE_SCALE, USD_SCALE } from '../../../src/core/decimal.ts';
import { liquidityScore } from '../../../src/platforms/market-fields.ts';
import { mapPolymarketMarket } from '../../../src/platforms/polymarket/market.ts';
import type { Resolution } from '../../../src/platforms/polymarket/listing/resolutions.ts';
import { needsResolution } from '../../../src/platforms/polymarket/listing/status.ts';
import { gammaEvent, gammaMarket } from '../../../src/platforms/polymarket/gamma-wire.ts';
import { resolutionRow } from '../../../src/platforms/polymarket/wire.ts';
import type { MarketRecord } from '../../../src/core/model.ts';
import { gammaEventRow, gammaRow, gammaTag, hex, token } from '../../fixtures/polymarket/rows.ts';

const NOW = '2026-08-01T00:00:00.000Z';

const map = (
  over: Record<string, unknown> = {},
  event: Record<string, unknown> | null = null,
  resolution?: Partial<Resolution>,
): MarketRecord =>
  mapPolymarketMarket(
    gammaMarket.parse(gammaRow(over)),
    event && gammaEvent.parse(gammaEventRow(event)),
    { market: {} },
    NOW,
    resolution && {
      conditionId: hex(0xabc),
      isPending: false,
      payouts: null,
      resolvedAt: null,
      expectedAt: null,
      expectedBasis: null,
      ...resolution,
    },
  );

const numbers = (record: MarketRecord) =>
  record.state.quotes.map((quote) =>
    [quote.price, quote.bid, quote.ask].map((value) => (value === null ? null : decimalNumber(value, PRICE_SCALE))),
  );
const usd = (value: bigint | null): number | null => (value === null ? null : decimalNumber(value, USD_SCALE));

const outcomeIdsOf = (names: string[]) =>
  map({ outcomes: JSON.stringify(names) }).info.outcomes.map((outcome) => outcome.id);
const classify = (tags: unknown[], over: Record<string, unknown> = {}) => map({}, { tags, ...over }).info;

test.each([
  [
    { priceToBeat: 64058.03, finalPrice: 67178 },
    { open_price: 64058.03, final_price: 67178 },
  ],
  [{ priceToBeat: '0.00012345', context_description: 'x' }, { open_price: 0.00012345 }],
  [{ priceToBeat: 0, finalPrice: null }, { open_price: 0 }],
])('the price to beat and the final price of an up/down event are part of the strike: %j', (eventMetadata, strike) => {
  const outcomes = '["Up","Down"]';
  expect(map({ outcomes }, { eventMetadata }).info.metadata.strike).toEqual(strike);
  const nested = map({ outcomes, line: 2, events: [gammaEventRow({ eventMetadata })] });
  expect(nested.info.metadata.strike).toEqual({ line: 2, ...strike });
});

test('starts of games and events and the delay of orders are told; the start of trading stays its own', () => {
  const times = { gameStartTime: '2026-05-08 20:00:00+00', eventStartTime: '2026-05-08T20:00:00Z', secondsDelay: 3 };
  const { info } = map(times, { startTime: '2026-05-08T19:00:00Z' });
  expect(info.metadata).toMatchObject({
    game_start_time: '2026-05-08T20:00:00.000Z',
    event_start_time: '2026-05-08T20:00:00.000Z',
    seconds_delay: 3,
  });
  expect(info.tradingStartAt).toBe('2026-05-02T15:47:45.000Z');
  expect(map({}, { startTime: '2026-05-08T19:00:00Z' }).info.metadata.event_start_time).toBe(
    '2026-05-08T19:00:00.000Z',
  );
  expect(map({ secondsDelay: 0 }).info.metadata.seconds_delay).toBe(0);
});

test.each(['proposed', 'resolved'])(
  'a row that is not closed yet, of which the oracle says %s, is settled by the final result, and by nothing else',
  (umaResolutionStatus) => {
    // The listing follows the oracle late; its prices are still midpoints.
    const row = {
      umaResolutionStatus,
      outcomePrices: '["0.5", "0.5"]',
      bestBid: 0.4,
      bestAsk: 0.6,
      lastTradePrice: 0.5,
    };
    expect(needsResolution(gammaMarket.parse(gammaRow(row)))).toBe(true);
    const resolvedAt = '2026-07-31T22:00:00.000Z';
    const decided = map({ ...row, umaEndDate: '2027-12-31T12:00:00Z' }, null, {
      payouts: ['1', '0'].map(parsePrice),
      resolvedAt,
    });
    expect(decided.state).toMatchObject({ status: 'settled', resolvedAt, metadata: { payouts: { yes: 1, no: 0 } } });
    expect(numbers(decided)).toEqual([
      [1, null, null],
      [0, null, null],
    ]);
    for (const resolution of [undefined, {}]) {
      expect(map(row, null, resolution).state).toMatchObject({ status: 'open', resolvedAt: null });
    }
  },
);

test.each([
  [true, { negRisk: true }, { negRisk: false }],
  [false, { negRisk: false }, { negRisk: true }],
  [true, { negRisk: null, negRiskMarketID: hex(7) }, { negRisk: false }],
  [undefined, { negRisk: null }, { negRisk: true }],
  [undefined, { negRisk: null }, { negRisk: null }],
  [undefined, { negRisk: null }, null],
])('negative risk is %j by the row %j, whatever its event %j says', (expected, over, event) => {
  expect(map({ negRiskMarketID: '', events: [], ...over }, event).info.metadata.neg_risk).toBe(expected);
});

test.each([
  ['quay', 'works', '/event/works/quay'],
  ['', 'works', '/event/works'],
  ['quay', '', '/market/quay'],
  ['', '', ''],
])('a market %j of the event %j has the page %j', (slug, ofEvent, path) => {
  expect(map({ slug, events: [] }, { slug: ofEvent }).info.sourceUrl).toBe(`https://polymarket.com${path}`);
  if (ofEvent === '') expect(map({ slug, events: [] }).info.sourceUrl).toBe(`https://polymarket.com${path}`);
});

test.each([
  ['btc-up-or-down-4h', 'daily', '4h'],
  ['eth-up-or-down-5m', '5m', '5m'],
  ['sol-up-or-down-1h', 'daily', 'hourly'],
  ['xrp-up-or-down-60m', '', 'hourly'],
  ['tide-24h', 'hourly', 'daily'],
  ['launch-jan-4th', 'weekly', 'weekly'],
  ['btc-4h-close', 'daily', 'daily'],
  ['views-over-100m', 'weekly', 'weekly'],
  ['views-over-10m', 'weekly', 'weekly'],
  ['subscribers-1m', 'monthly', 'monthly'],
  ['tide-0h', 'monthly', 'monthly'],
  ['4h', '', null],
])('the series %s with the recurrence %j has the frequency %j', (slug, recurrence, frequency) => {
  const { series } = map({}, { series: [{ id: '10684', slug, title: 'Tide', recurrence }] });
  expect(series?.frequency).toBe(frequency);
});

test.each([
  [0.62, 0.6, [null, 0.62, 0.6]],
  [0.6, 0.6, [0.6, 0.6, 0.6]],
  [0.6, 0.62, [0.61, 0.6, 0.62]],
])('a bid of %j and an ask of %j without a trade are quoted as %j', (bestBid, bestAsk, quote) => {
  expect(numbers(map({ bestBid, bestAsk, lastTradePrice: 0 }))[0]).toEqual(quote);
});

test('a placeholder says that it is one', () => {
  expect(map({ negRiskOther: true }).info.metadata.neg_risk_other).toBe(true);
  for (const negRiskOther of [false, undefined, 'odd']) {
    expect(map(negRiskOther === 'odd' ? {} : { negRiskOther }).info.metadata).not.toHaveProperty('neg_risk_other');
  }
});

test('a result that is not final tells when its oracle expects to settle, until the market has settled', () => {
  const expected = { expectedAt: '2026-10-02T00:00:00.000Z', expectedBasis: 'dvm_round_estimate' };
  const over = { umaResolutionStatus: 'disputed' };
  for (const row of [over, { ...over, closed: true, outcomePrices: '["0.4", "0.6"]' }]) {
    expect(needsResolution(gammaMarket.parse(gammaRow(row)))).toBe(true);
    const { state } = map(row, null, expected);
    expect(state.status).toBe(row === over ? 'open' : 'closed');
    expect(state.metadata).toMatchObject({
      expected_settlement_time: '2026-10-02T00:00:00.000Z',
      settlement_time_basis: 'dvm_round_estimate',
    });
  }
  const settled = map({ closed: true, umaResolutionStatus: 'resolved', outcomePrices: '["1", "0"]' }, null, expected);
  expect(settled.state.metadata).not.toHaveProperty('expected_settlement_time');
});

describe('an open market', () => {
  const record = map(
    {
      lastTradePrice: 0.5,
      bestBid: 0.5,
      bestAsk: 0.51,
      volume: '884661.3193779998',
      volumeNum: 884661.32,
      volume24hr: 1583.3463140000006,
      volume1wk: 13713.207510000058,
      volume1mo: 40508.40359300005,
      volume1yr: 688868.928274,
      liquidity: '13306.0738',
      liquidityClob: 13306.0738,
      competitive: 0.9999750006249843,
      oneWeekPriceChange: -0.01,
      orderPriceMinTickSize: 0.01,
      orderMinSize: 5,
      groupItemTitle: 'Bridge',
      groupItemThreshold: '2',
      negRisk: false,
      rewardsMinSize: 0,
      feesEnabled: true,
      feeSchedule: { exponent: 1, rate: 0.05, takerOnly: true, rebateRate: 0.25 },
      version: 'v1',
      events: [gammaEventRow({ tags: undefined, series: undefined })],
    },
    null,
  );

  test('quotes the second outcome as the complement: bid 1 − ask, ask 1 − bid', () => {
    expect(numbers(record)).toEqual([
      [0.5, 0.5, 0.51],
      [0.5, 0.49, 0.5],
    ]);
  });

  test('volumes come from the text twin, half-even at 6 decimals, and a missing change is unknown', () => {
    const { state } = record;
    expect([state.volumeTotal, state.volume24h, state.volume7d].map(usd)).toEqual([
      884661.319378, 1583.346314, 13713.20751,
    ]);
    expect(usd(state.liquidity)).toBe(13306.0738);
    expect(liquidityScore(state.liquidity!)).toBe(0.6873);
    // With the state, as on other platforms: `usd_basis` is made of it.
    expect(state.metadata['liquidity_basis']).toBe('full_book');
    expect(state.priceChange24h).toBeNull();
    expect(state.priceChange7d).toBe(parsePrice('-0.01'));
  });

  test("the event's open interest is never the market's", () => {
    expect(record.state.openInterest).toBeNull();
  });

  test('metadata has exactly the documented keys, numbers as numbers', () => {
    expect({ ...record.info.metadata, ...record.state.metadata }).toEqual({
      volume_basis: 'usd',
      liquidity_basis: 'full_book',
      token_ids: { yes: token(11), no: token(12) },
      condition_id: hex(0xabc),
      tick_size: 0.01,
      min_order_size: 5,
      group_item_title: 'Bridge',
      group_item_threshold: '2',
      neg_risk: false,
      collateral: 'pUSD',
      fee: { enabled: true, exponent: 1, rate: 0.05, takerOnly: true, rebateRate: 0.25 },
      accepting_orders: true,
      competitive: 0.9999750006,
      version: 'v1',
      volume_30d: 40508.403593,
      volume_1y: 688868.928274,
    });
  });

  test('identity, dates and addresses', () => {
    expect(record.info).toMatchObject({
      ref: hex(0xabc),
      platformId: '700123',
      title: 'Will the harbour bridge open in 2027?',
      marketType: 'binary',
      eventId: '40111',
      eventName: 'Harbour works',
      sourceUrl: 'https://polymarket.com/event/harbour-works/harbour-bridge-2027',
      imageUrl: 'https://img.example/bridge.png',
      createdAt: '2026-05-02T15:04:43.762Z',
      tradingStartAt: '2026-05-02T15:47:45.000Z',
      tradingEndAt: '2027-12-31T12:00:00.000Z',
      resolutionDate: '2027-12-31T12:00:00.000Z',
      category: '',
      tags: [],
    });
    expect(record.state).toMatchObject({ status: 'open', resolvedAt: null });
  });
});

describe('a resolved market', () => {
  const resolved = {
    closed: true,
    acceptingOrders: false,
    outcomePrices: '["0", "1"]',
    umaResolutionStatus: 'resolved',
    umaResolutionStatuses: '["proposed"]',
    closedTime: '2026-03-19 23:20:15+00',
    umaEndDate: '2026-03-19T23:20:15Z',
    endDate: '2028-01-01T00:00:00Z',
    lastTradePrice: 0.005,
    bestBid: 0.69,
    bestAsk: 0.001,
  };

  test('is priced at its payout, keeps the last trade, and its frozen bestBid and bestAsk are no quotes', () => {
    const record = map(resolved);
    expect(record.state.status).toBe('settled');
    expect(numbers(record)).toEqual([
      [0, null, null],
      [1, null, null],
    ]);
    expect(record.state.metadata).toMatchObject({ payouts: { yes: 0, no: 1 }, last_trade_price: 0.005 });
  });

  test('ends at closedTime ("2026-03-19 23:20:15+00"), years before endDate', () => {
    const { info, state } = map(resolved);
    expect(info.tradingEndAt).toBe('2026-03-19T23:20:15.000Z');
    expect(info.resolutionDate).toBe('2026-03-19T23:20:15.000Z');
    expect(state.resolvedAt).toBe('2026-03-19T23:20:15.000Z');
  });

  test('was resolved when its oracle decided, and not at the end of an earlier proposal', () => {
    const disputed = {
      ...resolved,
      umaResolutionStatus: 'disputed',
      umaResolutionStatuses: '["proposed", "disputed"]',
    };
    const resolvedAt = '2026-03-23T10:00:00.000Z';
    const decided = map(disputed, null, { payouts: ['0', '1'].map(parsePrice), resolvedAt });
    expect(decided.state).toMatchObject({ status: 'settled', resolvedAt });
  });

  test('without volume keys the volume is unknown, not zero', () => {
    const { state } = map(resolved);
    expect([state.volumeTotal, state.volume24h, state.volume7d]).toEqual([null, null, null]);
    expect(state.liquidity).toBe(0n);
  });

  test.each([
    ['2026-07-31T23:50:00Z', {}, ['88.5', '88.5', '88.5', '88.5']],
    ['2026-07-29T00:00:00Z', {}, [null, '88.5', '88.5', '88.5']],
    ['2026-07-31T23:50:00Z', { volume24hr: 3, volume1yr: 0 }, ['3', '88.5', '88.5', '0']],
    ['2026-07-31T23:50:00Z', { volume: undefined, volumeNum: 12 }, ['12', '12', '12', '12']],
    ['2026-07-31T23:50:00Z', { volume: undefined }, [null, null, null, null]],
    ['2025-07-31T23:50:00Z', {}, [null, null, null, null]],
  ])('since %s with %j has volumes of windows that are longer: %j', (acceptingOrdersTimestamp, over, expected) => {
    const { state } = map({ ...resolved, acceptingOrdersTimestamp, volume: '88.5', ...over });
    const volumes = [state.volume24h, state.volume7d, state.volume30d, state.volume1y];
    expect(volumes).toEqual(expected.map((one) => (one === null ? null : parseUsd(one))));
  });

  test('explicit zeros are zeros', () => {
    expect(map({ ...resolved, volume24hr: 0, oneDayPriceChange: 0 }).state).toMatchObject({
      volume24h: 0n,
      priceChange24h: 0n,
    });
  });

  test('a payout vector settles it without an oracle status, even while acceptingOrders is true', () => {
    const record = map({
      ...resolved,
      umaResolutionStatus: undefined,
      acceptingOrders: true,
      outcomePrices: '["1", "0"]',
    });
    expect(record.state.status).toBe('settled');
    expect(record.state.metadata.payouts).toEqual({ yes: 1, no: 0 });
  });

  test('50-50 pays a half each', () => {
    const record = map({ ...resolved, outcomePrices: '["0.5", "0.5"]' });
    expect(record.state.metadata.payouts).toEqual({ yes: 0.5, no: 0.5 });
  });

  test.each(['proposed', 'disputed', undefined])(
    'halves of a market whose oracle says %s are midpoints: only its result settles it',
    (umaResolutionStatus) => {
      const closed = { ...resolved, closedTime: '2026-07-31 10:00:00+00', outcomePrices: '["0.5", "0.5"]' };
      const row = { ...closed, umaResolutionStatus };
      expect(needsResolution(gammaMarket.parse(gammaRow(row)))).toBe(true);
      expect(map(row).state).toMatchObject({ status: 'closed', resolvedAt: null });
      const payouts = ['1', '0'].map(parsePrice);
      expect(map(row, null, { payouts, resolvedAt: null }).state).toMatchObject({
        status: 'settled',
        metadata: { payouts: { yes: 1, no: 0 } },
      });
    },
  );

  test.each(['proposed', 'challenged', 'reproposed', 'disputed'])(
    'prices of 1 and 0 are no payouts while the answer of the oracle is %s, and last prices once that is old',
    (umaResolutionStatus) => {
      const row = { ...resolved, closedTime: '2026-07-31 10:00:00+00', umaResolutionStatus };
      expect(needsResolution(gammaMarket.parse(gammaRow(row)))).toBe(true);
      const pending = map(row);
      expect(pending.state).toMatchObject({ status: 'closed', resolvedAt: null });
      expect(pending.state.metadata.payouts).toBeUndefined();
      expect(numbers(pending)[0]).toEqual([0.005, null, null]);
      const payouts = ['1', '0'].map(parsePrice);
      const decided = map(row, null, { payouts, resolvedAt: '2026-08-01T00:00:00.000Z' });
      expect(decided.state).toMatchObject({ status: 'settled', metadata: { payouts: { yes: 1, no: 0 } } });
      const old = map({ ...row, closedTime: '2026-05-01 10:00:00+00' });
      expect(old.state).toMatchObject({ status: 'settled', metadata: { last_prices: { yes: 0, no: 1 } } });
      expect(old.state.metadata.payouts).toBeUndefined();
    },
  );

  test('closed without payouts is closed for 30 days, then settled', () => {
    const pending = {
      closed: true,
      umaResolutionStatus: 'proposed',
      outcomePrices: '["0.97", "0.03"]',
      lastTradePrice: 0.97,
    };
    const young = map({ ...pending, closedTime: '2026-07-20 10:00:00+00', bestBid: 0.96, bestAsk: 0.98 });
    expect(young.state).toMatchObject({ status: 'closed', resolvedAt: null });
    expect(numbers(young)[0]).toEqual([0.97, null, null]);
    expect(map({ ...pending, closedTime: '2026-07-01 10:00:00+00' }).state.status).toBe('settled');
  });

  test.each([
    ['closed', { version: 'v2', resolutionStatus: 'active' }, undefined],
    ['closed', { version: 'v2' }, undefined],
    ['closed', { resolutionStatus: 'inactive' }, undefined],
    ['settled', { version: 'v2', resolutionStatus: 'resolved' }, undefined],
    ['closed', { version: 'v1' }, { isPending: true, expectedAt: '2026-08-04T00:00:00.000Z' }],
    ['closed', {}, { isPending: true }],
    ['settled', {}, { isPending: false }],
    ['settled', { version: 'v1', umaResolutionStatus: 'disputed' }, undefined],
    ['closed', { closedTime: undefined, endDate: '2026-06-01T00:00:00Z' }, undefined],
    ['closed', { closedTime: '', endDate: '2021-06-01T00:00:00Z' }, undefined],
  ] as const)('closed long ago without a payout is %s: %j, oracle %j', (status, over, resolution) => {
    const row = { ...resolved, umaResolutionStatus: undefined, outcomePrices: '["0.97", "0.03"]' };
    expect(map({ ...row, ...over }, null, resolution).state.status).toBe(status);
  });

  test('["0", "0"] of 2020 settles after 30 days and has no payout and no price', () => {
    const record = map({
      ...resolved,
      umaResolutionStatus: undefined,
      outcomePrices: '["0", "0"]',
      closedTime: '2020-11-02 16:31:01+00',
    });
    expect(record.state.status).toBe('settled');
    expect(record.state.metadata.payouts).toBeUndefined();
    expect(numbers(record)).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
  });

  const scalar = {
    ...resolved,
    umaResolutionStatus: undefined,
    umaEndDate: undefined,
    enableOrderBook: undefined,
    acceptingOrders: undefined,
    acceptingOrdersTimestamp: undefined,
    marketType: 'scalar',
    outcomes: '["Long", "Short"]',
    outcomePrices: '["0.5843311669077693146635445446077281", "0.4156688330922306853364554553922719"]',
    closedTime: '2021-01-02 21:45:52+00',
    lowerBound: '8000000000',
    upperBound: '20000000000',
  };

  test('a scalar market keeps its bounds, and its last prices as such: what it paid only the oracle reports', () => {
    const record = map(scalar);
    expect(record.info.marketType).toBe('scalar');
    expect(record.info.outcomes.map((outcome) => outcome.id)).toEqual(['long', 'short']);
    expect(record.info.metadata.strike).toEqual({ floor: 8_000_000_000, cap: 20_000_000_000 });
    expect(record.state.metadata).toMatchObject({ last_prices: { long: 0.5843311669, short: 0.4156688331 } });
    expect(record.state.metadata.payouts).toBeUndefined();
    const payouts = ['0.584331', '0.415669'].map(parsePrice);
    const reported = map(scalar, null, { payouts, resolvedAt: '2021-01-03T10:00:00.000Z' });
    expect(reported.state).toMatchObject({
      resolvedAt: '2021-01-03T10:00:00.000Z',
      metadata: { payouts: { long: 0.584331, short: 0.415669 } },
    });
    expect(reported.state.metadata.last_prices).toBeUndefined();
  });

  test('a market from before the order book settles by its announced end if it has no time of closing', () => {
    const row = { ...scalar, closedTime: undefined };
    expect(map({ ...row, endDate: '2021-01-02T00:00:00Z' }).state.status).toBe('settled');
    expect(map({ ...row, endDate: '2026-07-30T00:00:00Z' }).state.status).toBe('closed');
  });

  test('prices of the AMM era that are all but 0 and 1 are a result, others are none', () => {
    const [sure, unsure] = ['["0.0000213", "0.9999787"]', '["0.02", "0.98"]'].map(
      (outcomePrices) => map({ ...scalar, marketType: 'normal', outcomePrices }).state.metadata.payouts,
    );
    expect(sure).toEqual({ long: 0, short: 1 });
    expect(unsure).toBeUndefined();
  });

  test('of version 2 is settled when its own status says so, and pays what is printed or reported', () => {
    const v2 = { ...resolved, umaResolutionStatus: undefined, version: 'v2', resolutionStatus: 'resolved' };
    const closedTime = '2026-07-31 10:00:00+00';
    expect(map({ ...v2, closedTime }).state).toMatchObject({
      status: 'settled',
      metadata: { resolution_status: 'resolved' },
    });
    const unprinted = { ...v2, closedTime, resolutionStatus: 'active', outcomePrices: '["0.97", "0.03"]' };
    expect(map(unprinted).state.status).toBe('closed');
    const payouts = ['1', '0'].map(parsePrice);
    expect(map(unprinted, null, { payouts, resolvedAt: null }).state).toMatchObject({
      status: 'settled',
      metadata: { payouts: { yes: 1, no: 0 } },
    });
  });

  test('of version 2 that is resolved before it is closed has no quotes, and no payout until the oracle is read', () => {
    const over = {
      version: 'v2',
      resolutionStatus: 'resolved',
      closed: false,
      bestBid: 0.69,
      bestAsk: 0.71,
      outcomePrices: '["1", "0"]',
    };
    const { state } = map(over);
    expect([state.status, state.resolvedAt]).toEqual(['settled', null]);
    expect(state.quotes.map(({ price, bid, ask }) => [price, bid, ask])).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
    expect(state.metadata.payouts).toBeUndefined();
    expect(needsResolution(gammaMarket.parse(gammaRow(over)))).toBe(true);
    const payouts = ['1', '0'].map(parsePrice);
    expect(map(over, null, { payouts, resolvedAt: null }).state.metadata.payouts).toEqual({ yes: 1, no: 0 });
  });
});

test.each([
  [
    [1_000_000, 0],
    ['1', '0'],
  ],
  [
    ['500000', '500000'],
    ['0.5', '0.5'],
  ],
  [[], null],
  [null, null],
])("an oracle's row with the payouts %j states %j, and an empty list no final result", (payouts, expected) => {
  const row = { condition_id: hex(0xabc), status: 'resolved', payouts };
  expect(resolutionRow.parse(row).payouts).toEqual(expected?.map(parsePrice) ?? null);
});

describe('a closed market whose result is not certain', () => {
  const closed = {
    closed: true,
    closedTime: '2026-07-31 10:00:00+00',
    umaResolutionStatus: undefined,
    umaEndDate: undefined,
  };
  test.each([
    [
      'a price that is nearly 1, and no readable switch of its book',
      { enableOrderBook: undefined },
      ['0.9995', '0.0005'],
    ],
    ['version 2, and an own status that is not final', { version: 'v2', resolutionStatus: 'active' }, ['1', '0']],
    ['an own status that is not final', { resolutionStatus: 'inactive' }, ['1', '0']],
    ['version 2, and no status', { version: 'v2' }, ['1', '0']],
  ])('with %s is not settled, and its oracle is asked', (_, change, prices) => {
    const row = { ...closed, ...change, outcomePrices: JSON.stringify(prices) };
    const { state } = map(row);
    expect([state.status, state.metadata.payouts]).toEqual(['closed', undefined]);
    expect(needsResolution(gammaMarket.parse(gammaRow(row)))).toBe(true);
  });
});

describe('status while not closed', () => {
  test.each([
    ['open', {}],
    ['unopened', { active: false }],
    ['unopened', { enableOrderBook: false }],
    ['unopened', { acceptingOrders: false, acceptingOrdersTimestamp: undefined }],
    ['unopened', { acceptingOrders: false, acceptingOrdersTimestamp: '2026-09-01T00:00:00Z' }],
    ['paused', { acceptingOrders: false }],
    ['open', { umaEndDate: '2026-07-01T00:00:00Z' }],
  ])('%s when %j', (status, over) => {
    expect(map(over).state).toMatchObject({ status, resolvedAt: null });
  });
});

describe('prices', () => {
  test('0 and 1 are empty sides, an absent bestBid is unknown', () => {
    expect(numbers(map({ lastTradePrice: 0.4, bestBid: 0, bestAsk: 1 }))[0]).toEqual([0.4, null, null]);
    expect(numbers(map({ lastTradePrice: 0.4, bestAsk: 0.41 }))).toEqual([
      [0.4, null, 0.41],
      [0.6, 0.59, null],
    ]);
  });

  test('never traded: the middle of the quotes, else outcomePrices', () => {
    expect(numbers(map({ lastTradePrice: 0, bestBid: 0.3, bestAsk: 0.33 }))[0]).toEqual([0.315, 0.3, 0.33]);
    expect(numbers(map({}))[0]).toEqual([0.505, null, null]);
    expect(numbers(map({ outcomePrices: '["0", "0"]' }))[0]).toEqual([null, null, null]);
  });

  test('never traded and quoted on one side alone: none, whatever outcomePrices makes of it', () => {
    expect(numbers(map({ bestBid: 0.3, outcomePrices: '["0.65", "0.35"]' }))[0]).toEqual([null, 0.3, null]);
    expect(numbers(map({ bestBid: 0, bestAsk: 1, outcomePrices: '["0.5", "0.5"]' }))[0]).toEqual([null, null, null]);
  });

  test('a last trade far from the quotes is used as it is, not flipped to the other outcome', () => {
    expect(numbers(map({ lastTradePrice: 0.99, bestBid: 0.01, bestAsk: 0.02 }))[0]).toEqual([0.99, 0.01, 0.02]);
  });

  test('noise of a price change is rounded to 6 decimals', () => {
    expect(map({ oneDayPriceChange: 0.13500000000000001 }).state.priceChange24h).toBe(parsePrice('0.135'));
    expect(map({ oneDayPriceChange: 1e-7 }).state.priceChange24h).toBe(0n);
  });
});

describe('outcomes', () => {
  test('lists are JSON inside a string, ids are kebab, equal ids take their index', () => {
    expect(outcomeIdsOf(['FaZe', 'illwill'])).toEqual(['faze', 'illwill']);
    expect(outcomeIdsOf(['YES', 'no'])).toEqual(['yes', 'no']);
    expect(outcomeIdsOf(['Over 2.5', 'Over 2,5'])).toEqual(['over-2-5', 'over-2-5-1']);
    expect(outcomeIdsOf(['Ñandú', '中'])).toEqual(['nandu', 'outcome-1']);
  });

  test('token ids keep all their digits', () => {
    expect(map({}).info.outcomes[0]?.tokenId).toHaveLength(77);
    expect(map({}).info.outcomes.map((outcome) => outcome.tokenId)).toEqual([token(11), token(12)]);
  });

  test('protocol version 2 trades positions, not clobTokenIds', () => {
    const over = { version: 'v2', positionIds: [token(21), token(22)] };
    expect(map(over).info.outcomes.map((outcome) => outcome.tokenId)).toEqual([token(21), token(22)]);
  });

  test('a condition of protocol version 2 is stored in the spelling of CLOB and Data API', () => {
    const { info } = map({ version: 'v2', conditionId: hex(0xdef, 62) });
    expect([info.ref, info.metadata.condition_id]).toEqual([`${hex(0xdef, 62)}00`, `${hex(0xdef, 62)}00`]);
  });

  test.each([
    ['v1', { version: 'v1' }, [token(11), token(12)]],
    ['no version', {}, [token(11), token(12)]],
    ['v2 without positions', { version: 'v2', positionIds: null }, ['', '']],
    ['a version that is not known here', { version: 'v3' }, ['', '']],
  ])('the version chooses between clobTokenIds and positionIds, never their presence: %s', (_, over, ids) => {
    const { info } = map({ positionIds: [token(21), token(22)], ...over });
    expect(info.outcomes.map((outcome) => outcome.tokenId)).toEqual(ids);
  });

  test.each([[undefined], [''], ['[]']])('no token ids (%j): outcomes without, none in metadata', (clobTokenIds) => {
    const { info } = map({ clobTokenIds });
    expect(info.outcomes.map((outcome) => outcome.tokenId)).toEqual(['', '']);
    expect(info.metadata.token_ids).toEqual({});
  });

  test('a market of 2020 with five outcomes is multiple choice, each priced by outcomePrices alone', () => {
    const record = map({
      outcomes: '["A", "B", "C", "D", "E"]',
      outcomePrices: '["0.2", "0.3", "0.1", "0.4", "0"]',
      lastTradePrice: 0.9,
      bestBid: 0.1,
    });
    expect(record.info.marketType).toBe('multiple_choice');
    expect(numbers(record).map(([price]) => price)).toEqual([0.2, 0.3, 0.1, 0.4, 0]);
    expect(numbers(record)[0]).toEqual([0.2, null, null]);
  });

  test('an empty condition id is stored under the Gamma id', () => {
    expect(map({ conditionId: '' }).info).toMatchObject({ ref: 'gamma:700123', metadata: { condition_id: '' } });
  });
});

describe('category', () => {
  test('comes from hidden tags too, in the order of the vocabulary', () => {
    const info = classify([
      gammaTag('World Elections', 'world-elections'),
      gammaTag('Politics', 'politics', true),
      gammaTag('Elections', 'elections', true),
      gammaTag('Earn 4%', 'earn-4'),
      gammaTag('Crypto', 'crypto', true),
    ]);
    expect(info).toMatchObject({ category: 'Crypto', categorySlug: 'crypto' });
    expect(info.tags).toEqual(['World Elections', 'Politics', 'Elections', 'Earn 4%', 'Crypto']);
  });

  test('subcategory is the next tag that is shown and says something new', () => {
    const info = classify([
      gammaTag('Elections', 'elections', true),
      gammaTag('Politics', 'politics', true),
      gammaTag('US Election', 'us-presidential-election'),
    ]);
    expect(info).toMatchObject({ category: 'Politics', subcategory: 'US Election' });
  });

  test('beside the tag All it is that of the market, else of the event, as in 2020', () => {
    const all = [gammaTag('All', 'all')];
    const of = (own: string, parent: string) => map({ category: own }, { tags: all, category: parent }).info;
    expect(of('Sports', '')).toMatchObject({ category: 'Sports', tags: ['All'], subcategory: null });
    expect(of('', 'Sports')).toMatchObject({ category: 'Sports' });
  });

  test.each([
    ['International', ['Games', 'Cricket', 'International Cricket'], 'Cricket'],
    ["Women's", ['Rugby Union', 'Women'], 'Rugby Union'],
    ['Test Matches', ['Test', 'Cricket'], 'Cricket'],
    ['Domestic League', ['Leagues'], 'Domestic League'],
    ['', ['Games'], 'Games'],
    ['NBA', ['Games', 'Basketball'], 'NBA'],
    ['Premier League', ['Games', 'Soccer'], 'Premier League'],
    ['World Cup', ['Soccer'], 'World Cup'],
    ['Теннис', ['Games'], 'Теннис'],
  ])('a sport named %j with the tags %j has the subcategory %s', (name, labels, subcategory) => {
    const tags = [gammaTag('Sports', 'sports', true), ...labels.map((label) => gammaTag(label, `a-${label.length}`))];
    expect(classify(tags, { sport: { sport: 'any', name } })).toMatchObject({ category: 'Sports', subcategory });
  });

  test('a sport is the subcategory of Sports', () => {
    const tags = [gammaTag('Sports', 'sports', true), gammaTag('Games', 'games')];
    expect(classify(tags, { sport: { name: 'Cricket' } })).toMatchObject({
      category: 'Sports',
      subcategory: 'Cricket',
    });
  });

  test('without a known word the first tag that is shown counts', () => {
    const tags = [gammaTag('Hide From New', 'hide-from-new', true), gammaTag('Bridges', 'bridges')];
    expect(classify(tags)).toMatchObject({ category: 'Bridges', categorySlug: 'bridges', subcategory: null });
  });

  test('markets of 2020 name it themselves', () => {
    expect(map({ category: 'Crypto' }).info).toMatchObject({ category: 'Crypto', subcategory: null, tags: [] });
    expect(map({ category: 'US-current-affairs' }).info.categorySlug).toBe('us-current-affairs');
  });

  test('series and neg risk come along', () => {
    const { info } = map({ negRisk: true, negRiskMarketID: hex(7) }, { series: [{ id: '10684', slug: 'btc-5m' }] });
    expect(info.seriesId).toBe('10684');
    expect(info.metadata).toMatchObject({ neg_risk: true, neg_risk_market_id: hex(7), series_slug: 'btc-5m' });
  });
});
