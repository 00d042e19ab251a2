import { describe, expect, test } from 'vitest';
import { decimalNumber, parsePrice, parseUsd } from '../../../src/core/decimal.ts';
import { mapKalshiMarket } from '../../../src/platforms/kalshi/market.ts';
import { KalshiEvent, KalshiMarket, KalshiSeries, MARKET_ROW } from '../../../src/platforms/kalshi/wire.ts';
import { liquidityScore } from '../../../src/platforms/market-fields.ts';
import type { Quote } from '../../../src/core/model.ts';
import { parseRow } from '../../../src/platforms/parse-rows.ts';
import { readContext, RECEIVED_AT } from '../../fixtures/canned-http.ts';
import { centsMarketRow, eventRow, marketRow, seriesRow } from '../../fixtures/kalshi/rows.ts';

const map = (raw: object, event: object | null = eventRow(), series: object | null = seriesRow()) =>
  mapKalshiMarket(
    { row: KalshiMarket.parse(raw), raw: { ...raw } },
    event && { row: KalshiEvent.parse(event), raw: { ...event } },
    series && { row: KalshiSeries.parse(series), raw: { ...series } },
    RECEIVED_AT,
  );
const numbers = ({ price, bid, ask }: Quote) =>
  [price, bid, ask].map((value) => (value === null ? null : decimalNumber(value, 10)));
const firstQuote = (change: object) => numbers(map(marketRow(change)).state.quotes[0]!);

const openedAt = (open_time: string) => map(marketRow({ open_time })).state;

describe('a Kalshi market', () => {
  test('is read with its event and series, exact to the last digit', () => {
    const { info, state, raw, fetchedAt } = map(marketRow());
    expect(state.quotes.map(numbers)).toEqual([
      [0.81, 0.8, 0.81],
      [0.19, 0.19, 0.2],
    ]);
    expect(state.liquidity).toBe(parseUsd('84637.8817'));
    expect(liquidityScore(state.liquidity!)).toBe(0.8213);
    expect(state).toMatchObject({
      status: 'open',
      volume24h: parseUsd('202329.86'),
      volumeTotal: parseUsd('271926.68'),
      openInterest: parseUsd('242310.93'),
      priceChange24h: parsePrice('-0.03'),
      priceChange7d: null,
      metadata: { liquidity_basis: 'best_level', result: '' },
    });
    expect(info).toMatchObject({
      ref: 'KXOTTERCUP-26OCT08REDBLU-BLU',
      title: 'Bluewater wins',
      eventId: 'KXOTTERCUP-26OCT08REDBLU',
      eventName: 'Redrock vs Bluewater',
      seriesId: 'KXOTTERCUP',
      slug: 'kxottercup-26oct08redblu-blu',
      category: 'Sports',
      categorySlug: 'sports',
      subcategory: 'Otter Cup',
      tags: ['Otters'],
      sourceUrl: 'https://kalshi.com/markets/kxottercup/kxottercup-26oct08redblu',
      createdAt: '2026-09-29T04:01:07.177Z',
      tradingStartAt: '2026-09-29T04:05:00.000Z',
      tradingEndAt: '2026-10-11T00:15:00.000Z',
      resolutionCriteria: 'If Bluewater wins, then the market resolves to Yes.\n\nA tie pays 0.50.',
    });
    expect(info.metadata).toEqual({
      volume_basis: 'contracts',
      open_interest_basis: 'contracts',
      tick_size: 0.01,
      min_order_size: 0.01,
      price_ranges: [{ start: 0, end: 1, step: 0.01 }],
      yes_sub_title: 'Bluewater',
      event_sub_title: 'RED vs BLU (Oct 8)',
      strike: { type: 'structured', custom: { otter_team: 'blu' } },
      mutually_exclusive: true,
      collateral: 'USD',
      fee: { type: 'quadratic', multiplier: 1 },
      exchange_index: 3,
      can_close_early: true,
    });
    expect(raw).toEqual({ market: marketRow(), event: eventRow(), series: seriesRow() });
    expect(fetchedAt).toBe(RECEIVED_AT);
  });

  test('in cents and whole counts, as sent until early 2026, reads like one in dollars', () => {
    const retired = map(centsMarketRow());
    expect(retired.state.quotes).toEqual(map(marketRow()).state.quotes);
    expect(retired.state).toMatchObject({ volumeTotal: parseUsd('271926'), priceChange24h: parsePrice('-0.03') });
    expect(retired.info.metadata).toMatchObject({ tick_size: 0.01, exchange_index: 0 });
  });

  test.each([
    ['whole cents', { yes_bid: 1, yes_ask: 92, last_price: 0 }, [0.465, 0.01, 0.92]],
    ['dollars as a number', { yes_bid: 0.92, yes_ask: 0.935, last_price: 0.9275 }, [0.9275, 0.92, 0.935]],
    ['dollars as a text', { yes_bid: '0.92', yes_ask: '0.935', last_price: '1' }, [1, 0.92, 0.935]],
  ])('under the retired names has prices in %s', (_, change, expected) => {
    const { quotes } = map({ ...centsMarketRow(), ...change }).state;
    expect(numbers(quotes[0]!)).toEqual(expected);
  });

  test.each([
    ['a bid', { yes_bid_size_fp: undefined }, null, 'none'],
    ['an ask', { yes_ask_size_fp: undefined }, null, 'none'],
    ['a bid that is none', { yes_bid_size_fp: undefined, yes_bid_dollars: '0.0000' }, '71414.2417', 'best_level'],
    ['a bid without a price', { yes_bid_dollars: undefined }, null, 'none'],
    ['an ask without a readable price', { yes_ask_dollars: null }, null, 'none'],
  ])('whose row does not say how large %s is has unknown liquidity, not less', (_, change, expected, basis) => {
    const { state } = map(marketRow(change));
    expect(state.liquidity).toBe(expected === null ? null : parseUsd(expected));
    expect(state.metadata['liquidity_basis']).toBe(basis);
  });

  test('whose row says that less than nothing is bid has unknown liquidity, and the size is reported', () => {
    const context = readContext();
    const parsed = parseRow(KalshiMarket, marketRow({ yes_bid_size_fp: '-1.00' }), MARKET_ROW, context);
    expect(parsed && mapKalshiMarket(parsed, null, null, RECEIVED_AT).state.liquidity).toBeNull();
    expect(context.badRows).toMatchObject([{ field: 'yes_bid_size_fp' }]);
  });

  test.each([
    ['bid 0.0000 is no bid', { yes_bid_dollars: '0.0000' }, [0.81, null, 0.81]],
    ['ask 1.0000 is no ask', { yes_ask_dollars: '1.0000' }, [0.81, 0.8, null]],
    ['a bid of size 0.00 is no bid', { yes_bid_size_fp: '0.00' }, [0.81, null, 0.81]],
    ['an ask of size 0.00 is no ask', { yes_ask_size_fp: '0.00' }, [0.81, 0.8, null]],
    ['last 0.0000 is never traded: the midpoint stands', { last_price_dollars: '0.0000' }, [0.805, 0.8, 0.81]],
    [
      'never traded and one-sided has no price',
      { last_price_dollars: '0.0000', yes_bid_dollars: '0.0000' },
      [null, null, 0.81],
    ],
  ])('%s', (_, change, expected) => {
    expect(firstQuote(change)).toEqual(expected);
  });

  test('that is finalized is priced at its payout and quotes nothing, whatever the row prints', () => {
    const { state } = map(
      marketRow({
        status: 'finalized',
        result: 'no',
        settlement_value_dollars: '0.0000',
        settlement_ts: '2026-10-09T04:00:00.5Z',
        yes_bid_dollars: '0.3000',
        last_price_dollars: '0.0300',
      }),
    );
    expect(state.quotes.map(numbers)).toEqual([
      [0, null, null],
      [1, null, null],
    ]);
    expect(state).toMatchObject({ status: 'settled', liquidity: 0n, resolvedAt: '2026-10-09T04:00:00.500Z' });
    expect(state.metadata).toMatchObject({ result: 'no', payouts: { yes: 0, no: 1 }, last_trade_price: 0.03 });
  });

  test('that is closed keeps its last price and quotes nothing', () => {
    expect(firstQuote({ status: 'determined', result: 'yes' })).toEqual([0.81, null, null]);
    expect(map(marketRow({ status: 'determined', result: 'yes' })).state.metadata).not.toHaveProperty('payouts');
  });

  test('with a settlement floor says what Yes was paid before and what is left to pay, and keeps the whole payout', () => {
    const floor = { settlement_bounds_type: 'floor', settlement_floor_dollars: '0.3000' };
    const open = map(marketRow(floor));
    expect(open.info.metadata).toMatchObject({ settlement_floor: 0.3 });
    expect(open.state.metadata).not.toHaveProperty('settlement_payouts');
    const paid = { status: 'finalized', result: 'scalar', settlement_value_dollars: '0.5000' };
    const settled = map(marketRow({ ...floor, ...paid })).state;
    expect(settled.quotes.map(numbers)).toEqual([
      [0.5, null, null],
      [0.5, null, null],
    ]);
    expect(settled.metadata).toMatchObject({
      payouts: { yes: 0.5, no: 0.5 },
      settlement_payouts: { yes: 0.2, no: 0.5 },
    });
    const unknown = map(marketRow({ settlement_bounds_type: 'floor', ...paid }));
    expect(unknown.info.metadata).toMatchObject({ settlement_bounds_type: 'floor' });
    expect(unknown.info.metadata).not.toHaveProperty('settlement_floor');
    expect(unknown.state.metadata).not.toHaveProperty('settlement_payouts');
    const usual = map(marketRow({ settlement_bounds_type: 'default', settlement_floor_dollars: '0.3000', ...paid }));
    expect(usual.info.metadata).not.toHaveProperty('settlement_floor');
    expect(usual.state.metadata).not.toHaveProperty('settlement_payouts');
  });

  test('says when its event takes place, how long its result may be disputed, why it may close early and where its series is filed', () => {
    const told = { occurrence_datetime: '2026-10-09T01:15:00Z', settlement_timer_seconds: 300 };
    const { metadata } = map(
      marketRow({ ...told, early_close_condition: 'Once a winner is declared.' }),
      eventRow(),
      seriesRow({ categories: ['Sports', 'Otters'] }),
    ).info;
    expect(metadata).toMatchObject({
      ...told,
      occurrence_datetime: '2026-10-09T01:15:00.000Z',
      early_close_condition: 'Once a winner is declared.',
      categories: ['Sports', 'Otters'],
    });
    const filed = map(
      marketRow(),
      eventRow({ category: '' }),
      seriesRow({ category: undefined, categories: ['Elections'] }),
    );
    expect(filed.info.category).toBe('Politics');
  });

  test('that ended in a tie pays a fraction and stays binary', () => {
    const { info, state } = map(
      marketRow({ status: 'finalized', result: 'scalar', settlement_value_dollars: '0.5000' }),
    );
    expect(info.marketType).toBe('binary');
    expect(state.metadata.payouts).toEqual({ yes: 0.5, no: 0.5 });
  });

  test.each([
    ['initialized', 'unopened'],
    ['active', 'open'],
    ['inactive', 'paused'],
    ['closed', 'closed'],
    ['determined', 'closed'],
    ['disputed', 'closed'],
    ['amended', 'closed'],
    ['finalized', 'settled'],
    ['something_new', 'closed'],
    ['constructor', 'closed'],
  ])('of status %s is %s', (status, expected) => {
    expect(map(marketRow({ status })).state.status).toBe(expected);
  });

  test.each([
    [
      'bold marks are dropped',
      { title: 'Will the **high** be <80°?', yes_sub_title: 'high' },
      'Will the high be <80°?',
    ],
    [
      'siblings that share a title are distinguished',
      { title: 'Redrock vs Bluewater Winner?' },
      'Redrock vs Bluewater Winner? (Bluewater)',
    ],
    [
      'a name is contained in upper or lower case',
      { title: 'Will the rate be above 4.00%?', yes_sub_title: 'Above 4.00%' },
      'Will the rate be above 4.00%?',
    ],
    [
      'the side is appended when the title lacks it',
      { yes_sub_title: '79° or below' },
      'Bluewater wins (79° or below)',
    ],
  ])('title: %s', (_, change, expected) => {
    expect(map(marketRow(change)).info.title).toBe(expected);
  });

  test('resolves before it closes when Kalshi says so; the times are not swapped', () => {
    const { info } = map(marketRow());
    expect(info.resolutionDate).toBe('2026-10-09T03:15:00.000Z');
    expect(info.tradingEndAt).toBe('2026-10-11T00:15:00.000Z');
    expect(map(marketRow({ expected_expiration_time: undefined })).info.resolutionDate).toBe(
      '2026-10-11T00:15:00.000Z',
    );
  });

  test('created at the zero time has no known creation time', () => {
    expect(map(marketRow({ created_time: '0001-01-01T00:00:00Z' })).info.createdAt).toBeNull();
  });

  test('names its own sources, else its series, and never the placeholder that is Kalshi itself', () => {
    expect(map(marketRow()).info.resolutionSource).toBe('https://league.example/');
    const own = eventRow({ settlement_sources: [{ url: 'https://a.example' }, { url: 'https://b.example' }] });
    expect(map(marketRow(), own).info.resolutionSource).toBe('https://a.example, https://b.example');
    const none = seriesRow({ settlement_sources: [{ url: 'https://kalshi.com/' }] });
    expect(map(marketRow(), eventRow(), none).info.resolutionSource).toBe('');
  });

  test.each([
    ['Climate and Weather', 'Climate and Weather', 'climate-and-weather'],
    ['Elections', 'Politics', 'politics'],
    ['World', 'Geopolitics', 'geopolitics'],
    ['Transportation', 'Transportation', 'transportation'],
  ])('of category %s is filed under %s', (category, name, slug) => {
    expect(map(marketRow(), eventRow({ category })).info).toMatchObject({ category: name, categorySlug: slug });
  });

  test('without event and series is still a market, with nothing invented', () => {
    const { info } = map(marketRow(), null, null);
    expect(info).toMatchObject({ eventName: '', seriesId: '', category: '', subcategory: null, tags: [] });
    expect(info.sourceUrl).toBe('https://kalshi.com');
    expect(info.metadata).not.toHaveProperty('fee');
  });

  test('pays the fees of its event where these override the series', () => {
    const event = eventRow({ fee_multiplier_override: 0.5, fee_type_override: 'flat' });
    expect(map(marketRow(), event).info.metadata.fee).toEqual({ type: 'flat', multiplier: 0.5 });
  });

  test('says until when Kalshi waives its fees', () => {
    const { info } = map(marketRow({ fee_waiver_expiration_time: '2026-12-01T05:00:00Z' }));
    expect(info.metadata['fee_waived_until']).toBe('2026-12-01T05:00:00.000Z');
    expect(map(marketRow()).info.metadata).not.toHaveProperty('fee_waived_until');
  });

  test('has the smallest step of its tapered grid as tick size', () => {
    const price_ranges = [
      { start: '0.0000', end: '0.1000', step: '0.0010' },
      { start: '0.1000', end: '1.0000', step: '0.0100' },
    ];
    expect(map(marketRow({ price_ranges })).info.metadata.tick_size).toBe(0.001);
  });

  test.each([
    ['between', { floor_strike: 78, cap_strike: 79.5 }, { type: 'between', floor: 78, cap: 79.5 }],
    [undefined, { floor_strike: 78, cap_strike: 79.5 }, { floor: 78, cap: 79.5 }],
    ['', { functional_strike: 'x > 4' }, { functional: 'x > 4' }],
    [null, { custom_strike: { team: 'blu' } }, { custom: { team: 'blu' } }],
    [undefined, {}, undefined],
  ])('of strike type %j keeps what it says of its strike: %j', (strike_type, parts, expected) => {
    const { metadata } = map(marketRow({ strike_type, custom_strike: undefined, ...parts })).info;
    expect(metadata['strike']).toEqual(expected);
  });

  test.each([
    [['0.0000', '0.0100'], undefined, 0.01],
    [['0.0000'], undefined, undefined],
    [['-0.0010', '0.0050'], undefined, 0.005],
    [[], 0, undefined],
    [[], 5, 0.05],
  ])(
    'with the steps %j and a tick of %j has the tick size that a step above 0 states, else none',
    (steps, tick_size, expected) => {
      const price_ranges = steps.map((step) => ({ start: '0.0000', end: '1.0000', step }));
      expect(map(marketRow({ price_ranges, tick_size })).info.metadata.tick_size).toBe(expected);
    },
  );

  test.each([
    ['yes', '0.0000', { yes: 1, no: 0 }],
    ['no', '1.0000', { yes: 0, no: 1 }],
    ['yes', '1.0000', { yes: 1, no: 0 }],
    ['yes', undefined, { yes: 1, no: 0 }],
    ['', '1.0000', { yes: 1, no: 0 }],
    ['scalar', '0.0000', { yes: 0, no: 1 }],
    ['no', '0.3000', { yes: 0.3, no: 0.7 }],
  ])('of result %j and value %j pays what the result says where the two contradict', (result, value, expected) => {
    const { state } = map(marketRow({ status: 'finalized', result, settlement_value_dollars: value }));
    expect(state.metadata.payouts).toEqual(expected);
    expect(numbers(state.quotes[0]!)[0]).toBe(expected.yes);
  });

  test('without a price a day ago has no change, and a missing volume is unknown, not zero', () => {
    const { state } = map(marketRow({ previous_price_dollars: '0.0000', volume_24h_fp: undefined }));
    expect(state.priceChange24h).toBeNull();
    expect(state.volume24h).toBeNull();
  });

  test('younger than a window had its whole volume within it', () => {
    expect(openedAt('2026-09-29T04:05:00Z')).toMatchObject({ volume7d: null, volume30d: parseUsd('271926.68') });
    expect(openedAt('2026-09-29T06:40:00Z').volume7d).toBe(parseUsd('271926.68'));
  });
});
