import { describe, expect, test } from 'vitest';
import { createPolymarketData } from '../../../src/platforms/polymarket/data.ts';
import { gammaEvent, gammaMarket } from '../../../src/platforms/polymarket/gamma-wire.ts';
import { cannedHttp, collect, readContext, SETTINGS } from '../../fixtures/canned-http.ts';
import { gammaEventRow, gammaRow, gammaTag, hex, token } from '../../fixtures/polymarket/rows.ts';
import { isWarned, ODD, type Row, stored, without } from '../odd-values.ts';

const ODD_HERE = [...ODD, { id: { b: [] } }];

const MARKET = gammaRow({
  category: 'Pop-Culture',
  resolutionSource: 'https://harbour.example',
  positionIds: '[]',
  closedTime: '2026-10-01 10:00:00+00',
  umaEndDate: '2027-12-31T14:00:00Z',
  umaResolutionStatus: 'proposed',
  resolutionStatus: 'active',
  marketType: 'normal',
  version: 'v1',
  volume: '884661.319377',
  volumeNum: 884661.32,
  volume24hr: 1583.34,
  volume1wk: 13713.2,
  volume1mo: 40508.4,
  volume1yr: 688868.9,
  liquidity: '13306.07',
  liquidityNum: 13306.07,
  liquidityClob: 13305,
  lastTradePrice: 0.5,
  bestBid: 0.5,
  bestAsk: 0.51,
  oneDayPriceChange: 0.02,
  oneWeekPriceChange: -0.01,
  competitive: 0.99,
  orderPriceMinTickSize: 0.01,
  orderMinSize: 5,
  rewardsMinSize: 20,
  groupItemTitle: 'Bridge',
  groupItemThreshold: '2',
  line: 3.5,
  lowerBound: 1,
  upperBound: 9,
  negRisk: false,
  negRiskMarketID: hex(7),
  negRiskOther: true,
  gameStartTime: '2026-09-08 20:00:00+00',
  eventStartTime: '2026-09-08T20:00:00Z',
  secondsDelay: 3,
  feesEnabled: true,
  feeSchedule: { exponent: 1, rate: 0.05, takerOnly: true, rebateRate: 0.25 },
});
const EVENT = gammaEventRow({
  category: 'Business',
  resolutionSource: 'https://works.example',
  image: 'https://img.example/works.png',
  icon: 'https://img.example/works-icon.png',
  negRisk: true,
  sport: { name: 'Rowing' },
  startTime: '2026-09-08T20:00:00Z',
  eventMetadata: { priceToBeat: 64058.03, finalPrice: 67178 },
  tags: [gammaTag('Politics', 'politics', true), gammaTag('Harbours', 'harbours')],
  series: [{ id: '77', slug: 'works', title: 'Works', recurrence: 'weekly' }],
});
const NEIGHBOUR = gammaRow({
  id: '700124',
  conditionId: hex(0xabd),
  clobTokenIds: JSON.stringify([token(21), token(22)]),
});

async function sweep(market: Row, event: Row = EVENT) {
  const row = { ...event, markets: [market, NEIGHBOUR] };
  const http = cannedHttp((path) => (path === '/events/keyset' ? { events: [row] } : { data: [] }));
  const data = createPolymarketData({ http, settings: SETTINGS, now: () => Date.parse('2026-08-01T00:00:00Z') });
  const context = readContext();
  const pages = await collect(data.sweep({ kind: 'open' }, context));
  const records = pages.flatMap(({ markets }) => markets).map(stored);
  const of = (id: string) => records.find(({ info }) => info.platformId === id);
  return { market: of('700123'), neighbour: of('700124'), warnings: context.badRows };
}

/** An odd value counts as absent, with a warning unless that is what it says; or as its text. */
async function expectAbsentOrText(read: (odd: Row) => ReturnType<typeof sweep>, row: Row, field: string, odd: unknown) {
  const given = await read({ ...row, [field]: odd });
  const absent = await read(without(row, field));
  const isAbsent = expect.objectContaining({ info: absent.market?.info, state: absent.market?.state });
  if (isWarned(given.warnings, field) || odd === null || odd === '') expect(given.market).toEqual(isAbsent);
  else {
    const readable = typeof odd === 'number' ? String(odd) : odd;
    expect(given.market).toEqual((await read({ ...row, [field]: readable })).market);
  }
  expect(given.neighbour?.state).toEqual(absent.neighbour?.state);
  for (const warning of given.warnings) {
    expect(warning).toMatchObject({
      platform: 'polymarket',
      field: expect.stringMatching(/\w/),
      reason: expect.stringMatching(/./),
    });
    expect(warning.id).toMatch(/^(700123|40111)$/);
  }
}

describe('a field of another type costs that field', () => {
  const essential = new Set(['id', 'question', 'conditionId', 'outcomes']);

  test.each(Object.keys(gammaMarket.shape).filter((field) => !essential.has(field)))(
    '%s of a market',
    async (field) => {
      for (const odd of ODD_HERE) await expectAbsentOrText((row) => sweep(row), MARKET, field, odd);
    },
  );

  test.each(Object.keys(gammaEvent.shape).filter((field) => field !== 'id' && field !== 'markets'))(
    '%s of an event',
    async (field) => {
      for (const odd of ODD_HERE) await expectAbsentOrText((row) => sweep(MARKET, row), EVENT, field, odd);
    },
  );

  test.each(['id', 'question', 'conditionId', 'outcomes'])(
    'but a market without a readable %s is left out, alone',
    async (field) => {
      for (const odd of [{}, [[]], true]) {
        const { market, neighbour, warnings } = await sweep({ ...MARKET, [field]: odd });
        expect(market).toBeUndefined();
        expect(neighbour?.info.eventName).toBe('Harbour works');
        expect(warnings).toHaveLength(1);
        expect(warnings[0]?.field).toBeUndefined();
        expect(warnings[0]?.reason).toContain(field);
      }
    },
  );
});

test('an unreadable icon takes neither name nor category from the markets of its event', async () => {
  const { market, warnings } = await sweep(MARKET, { ...EVENT, icon: { url: 'x' }, image: 5 });
  expect(market?.info).toMatchObject({ eventName: 'Harbour works', category: 'Politics', subcategory: 'Harbours' });
  expect(market?.event?.imageUrl).toBe('5');
  expect(warnings.map(({ kind, id, field }) => [kind, id, field])).toEqual([['event', '40111', 'icon']]);
});

test.each(Object.keys(MARKET).filter((field) => /^(volume|liquidity)/.test(field)))(
  '%s below 0 is unknown, and counted',
  async (field) => {
    for (const below of [-0.000001, '-884661.3', -5]) {
      const { market, warnings } = await sweep({ ...MARKET, [field]: below });
      expect(market).toEqual((await sweep(without(MARKET, field))).market);
      expect(warnings).toEqual([
        expect.objectContaining({ id: '700123', field, reason: expect.stringContaining('below 0') }),
      ]);
    }
    expect((await sweep({ ...MARKET, [field]: 0 })).warnings).toEqual([]);
  },
);

test('the liquidity of an open market that cannot be read is unknown, not 0', async () => {
  const odd = { ...MARKET, liquidity: 'none', liquidityNum: null };
  const { market, warnings } = await sweep(odd);
  expect(warnings.map(({ id, field }) => [id, field])).toEqual([['700123', 'liquidity']]);
  expect([market?.state.liquidity, market?.state.metadata['liquidity_basis']]).toEqual([null, 'none']);
  const empty = (await sweep({ ...odd, liquidity: '0' })).market?.state;
  expect([empty?.liquidity, empty?.metadata['liquidity_basis']]).toEqual([0n, 'full_book']);
});

test('markets of an event that ask the same have their names in the title, else their ids', async () => {
  const named = await sweep({ ...MARKET, question: NEIGHBOUR['question'], groupItemTitle: 'Bridge' });
  const [question] = [String(NEIGHBOUR['question'])];
  expect(named.market?.info.title).toBe(`${question} (Bridge)`);
  const unnamed = await sweep({ ...MARKET, question, groupItemTitle: NEIGHBOUR['groupItemTitle'] ?? '' });
  expect(unnamed.market?.info.title).toBe(`${question} (700123)`);
  expect(unnamed.neighbour?.info.title).toBe(`${question} (700124)`);
  expect((await sweep({ ...MARKET, question: 'Another?' })).market?.info.title).toBe('Another?');
});

const feeOf = async (row: Row): Promise<unknown> => (await sweep(row)).market?.info.metadata['fee'];
test('a market whose switch of fees cannot be read is not a market without fees', async () => {
  expect(await feeOf({ ...MARKET, feesEnabled: 1 })).toEqual(MARKET['feeSchedule']);
  expect(await feeOf({ ...MARKET, feesEnabled: false })).toMatchObject({ enabled: false });
  expect(await feeOf(without(without(MARKET, 'feesEnabled'), 'feeSchedule'))).toEqual({ enabled: false });
});

test('a time that cannot be read is unknown, and counted; an unknown one is not', async () => {
  const closed = {
    ...MARKET,
    closed: true,
    umaEndDate: undefined,
    umaResolutionStatus: 'resolved',
    outcomePrices: '["1", "0"]',
  };
  const readable = await sweep({ ...closed, closedTime: '2026-11-24 21:38:35.683314+00:00:00' });
  expect(readable.market?.state).toMatchObject({ status: 'settled', resolvedAt: '2026-11-24T21:38:35.683Z' });
  expect(readable.market?.info.tradingEndAt).toBe('2026-11-24T21:38:35.683Z');
  expect(readable.warnings).toEqual([]);
  for (const closedTime of ['2026-02-30 10:00:00+00', '2026-13-01T00:00:00Z', '2026-11-24T21:38:35+99', 'yesterday']) {
    const { market, warnings } = await sweep({ ...closed, closedTime });
    expect(market?.state).toMatchObject({ status: 'settled', resolvedAt: null });
    expect(warnings).toEqual([expect.objectContaining({ id: '700123', field: 'closedTime', reason: 'not a time' })]);
  }
  expect((await sweep({ ...closed, closedTime: '0001-01-01T00:00:00Z' })).warnings).toEqual([]);
});

test('an entry of tags or series is left out alone, and a field of an entry alone', async () => {
  const tags = [
    'odd',
    { label: 'Politics', slug: 'politics', forceHide: 'odd' },
    { label: {}, slug: 'works' },
    7,
    gammaTag('Harbours', 'harbours'),
  ];
  const series = [
    { id: {}, slug: 'a' },
    { id: 78, slug: [], title: 'Ferries', recurrence: 'daily' },
  ];
  const { market, warnings } = await sweep(MARKET, { ...EVENT, tags, series });
  expect(market?.info).toMatchObject({ category: 'Politics', tags: ['Politics', 'Harbours'], seriesId: '78' });
  expect(market?.series).toMatchObject({ seriesId: '78', title: 'Ferries', frequency: 'daily' });
  const fields = warnings.map(({ field }) => field).toSorted();
  expect(fields).toEqual(['series[].id', 'series[].slug', 'tags[]', 'tags[].forceHide', 'tags[].label']);
});

test('markets of an event without a readable id are stored without their event', async () => {
  const { market, neighbour, warnings } = await sweep(MARKET, { ...EVENT, id: {} });
  for (const one of [market, neighbour]) expect(one?.info).toMatchObject({ eventId: '', title: MARKET.question });
  expect(warnings).toEqual([expect.objectContaining({ kind: 'event', reason: expect.stringContaining('id') })]);
});

describe('what can be read in another way is', () => {
  test.each(['[0.65, 0.35]', [0.65, 0.35], '["0.65", 0.35]'])('prices written as %j', async (outcomePrices) => {
    const unquoted = { bestBid: undefined, bestAsk: undefined, lastTradePrice: undefined };
    const { market, warnings } = await sweep({ ...MARKET, ...unquoted, outcomePrices });
    expect(market?.state.quotes.map(({ price }) => price)).toEqual([6_500_000_000n, 3_500_000_000n]);
    expect(warnings).toEqual([]);
  });

  test('outcomes named by numbers, and a number for a text', async () => {
    const odd = { question: 2026, outcomes: '[2026, 2027]', groupItemThreshold: 3 };
    const { market, warnings } = await sweep({ ...MARKET, ...odd });
    expect(market?.info.title).toBe('2026');
    expect(market?.info.outcomes.map(({ name }) => name)).toEqual(['2026', '2027']);
    expect(market?.info.metadata.group_item_threshold).toBe('3');
    expect(warnings).toEqual([]);
  });

  test('a fee schedule whose numbers are texts', async () => {
    const feeSchedule = { exponent: '1', rate: '0.05', takerOnly: 'true', rebateRate: '0.25' };
    const { market, warnings } = await sweep({ ...MARKET, feeSchedule });
    expect(market).toEqual((await sweep(MARKET)).market);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['open', { closed: 'false', closedTime: undefined }],
    ['open', { closed: {}, closedTime: undefined }],
    ['closed', { closed: 'true' }],
    ['closed', { closed: 7 }],
    ['settled', { closed: {}, closedTime: undefined, umaResolutionStatus: 'resolved' }],
    ['open', { closed: false, acceptingOrders: [] }],
  ])('whether a market is %s: %j', async (status, over) => {
    expect((await sweep({ ...MARKET, ...over })).market?.state.status).toBe(status);
  });

  test('a Protocol V2 market without a readable version by its condition', async () => {
    const conditionId = `0x01${'a'.repeat(32)}0002${'0'.repeat(16)}00010001`;
    const positionIds = JSON.stringify([token(31), token(32)]);
    const { market } = await sweep({ ...MARKET, conditionId, positionIds, version: {} });
    expect(market?.info.outcomes.map(({ tokenId }) => tokenId)).toEqual([token(31), token(32)]);
  });
});

test.each([
  ['bestBid', 1.5],
  ['bestAsk', -0.1],
  ['lastTradePrice', 64],
  ['outcomePrices', '["-1", "2"]'],
])('a price that is none is as unknown as an absent one: %s', async (field, odd) => {
  const open = { ...MARKET, closed: false, acceptingOrders: true, lastTradePrice: undefined };
  const given = await sweep({ ...open, [field]: odd });
  expect(given.market).toEqual((await sweep(without(open, field))).market);
  expect(isWarned(given.warnings, field)).toBe(true);
});
