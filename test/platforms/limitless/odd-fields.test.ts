import { describe, expect, test } from 'vitest';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import { LimitlessGroup, LimitlessMarket } from '../../../src/platforms/limitless/wire.ts';
import { SETTINGS, cannedHttp, collect, readContext } from '../../fixtures/canned-http.ts';
import { childRow, groupRow, marketRow } from '../../fixtures/limitless/rows.ts';
import { isWarned, ODD, type Row, stored, without } from '../odd-values.ts';

const ODD_HERE = [...ODD, { yes: [] }];

const copied = { externalSlug: 'harbour-works-2026', externalProvider: 'polymarket' };
const MARKET: Row = childRow({
  address: '0x0e03eDc2A0ba38E803DaD62b31b6e6A2f4b216cc',
  category: 'Economy',
  groupSlug: 'harbour-1',
  stableSlug: 'harbour',
  frequency: 'daily',
  subFrequency: 'hours_24',
  negRiskRequestId: '0x2',
  positionIds: ['1', '2'],
  openInterest: '5',
  liquidity: '6',
  startAt: '2026-05-22T00:00:00Z',
  winningOutcomeIndex: 1,
  payoutNumerators: [0, 1],
  status: 'RESOLVED',
  expired: true,
  imageUrl: 'https://i.example/m',
  properties: [{ propertyKeySlug: 'domain', value: ['economy'] }],
  metadata: { fee: true, groupSlug: 'harbour-1', openPrice: '12.5', minutesDeadline: 1440, ...copied },
  priceOracleMetadata: { assetType: 'CRYPTO', chainlinkPair: 'OTR/USD', chainlinkStreamUrl: 'https://s.example' },
});
const NEIGHBOUR = childRow({ slug: '30-1', title: '30' });
const GROUP: Row = groupRow({
  slug: 'harbour-1',
  category: 'Economy',
  categories: ['Economy'],
  tags: ['Works'],
  logo: 'https://i.example/g',
  negRiskMarketId: '0x1',
  properties: [],
  metadata: copied,
});

async function sweep(market: Row, group: Row = GROUP) {
  const rows = [{ ...group, markets: [market, NEIGHBOUR] }, marketRow({ id: 9, slug: 'alone-1' })];
  const http = cannedHttp((path) =>
    path === '/markets/active' ? { data: rows, totalMarketsCount: rows.length } : undefined,
  );
  const data = createLimitlessData({ http, settings: SETTINGS, now: () => Date.parse('2026-10-06T00:00:00Z') });
  const context = readContext();
  const records = (await collect(data.sweep({ kind: 'open' }, context))).flatMap(({ markets }) => markets.map(stored));
  const of = (ref: string) => records.find(({ info }) => info.ref === ref);
  return {
    market: of('25-1779377186831'),
    neighbour: of('30-1'),
    other: of('alone-1'),
    warnings: context.badRows.filter(({ field, reason }) => field !== undefined || !reason.includes('unknown word')),
  };
}

/** An odd value counts as absent, with a warning unless it says that nothing is known; or it can be read. */
async function expectAbsentOrRead(read: (odd: Row) => ReturnType<typeof sweep>, row: Row, field: string) {
  const absent = await read(without(row, field));
  for (const odd of ODD_HERE) {
    const given = await read({ ...row, [field]: odd });
    expect(given.market, JSON.stringify(odd)).toBeDefined();
    if (isWarned(given.warnings, field) && odd !== true) {
      expect(given.market?.info.title).toBe(absent.market?.info.title);
      expect(given.market?.state).toEqual(absent.market?.state);
    }
    expect(given.neighbour?.state).toEqual(absent.neighbour?.state);
    expect(given.other).toEqual(absent.other);
    for (const warning of given.warnings) {
      expect(warning).toMatchObject({ platform: 'limitless', field: expect.stringMatching(/\w/) });
      expect(warning.id).toMatch(/^(25-1779377186831|harbour-1)$/);
    }
  }
}

const fieldsOf = (schema: { shape: object }, essential: string[]) =>
  Object.keys(schema.shape).filter((field) => !essential.includes(field));

describe('a field of another type costs that field', () => {
  test.each(fieldsOf(LimitlessMarket, ['slug', 'title']))('%s of a market', async (field) => {
    expect(Object.keys({ ...MARKET })).toContain(field);
    await expectAbsentOrRead((row) => sweep(row), MARKET, field);
  });

  test.each(fieldsOf(LimitlessGroup, ['slug', 'markets', 'title']))('%s of a group', async (field) => {
    await expectAbsentOrRead((row) => sweep(MARKET, row), GROUP, field);
  });

  test.each(['slug', 'title'])('but a market without a readable %s is left out, alone', async (field) => {
    for (const odd of [{}, [[]], true, null]) {
      const { market, neighbour, other, warnings } = await sweep({ ...MARKET, [field]: odd });
      expect(market).toBeUndefined();
      expect(neighbour?.info.title).toBe('Satellites in orbit above 30 in Q4?');
      expect(other).toBeDefined();
      expect(warnings).toEqual([expect.objectContaining({ kind: 'market', reason: expect.stringContaining(field) })]);
      expect(warnings[0]?.field).toBeUndefined();
    }
  });
});

test('a title that is a number is its text', async () => {
  const { market, warnings } = await sweep({ ...MARKET, title: 25 });
  expect(market?.info.title).toBe('Satellites in orbit above 25 in Q4?');
  expect(warnings).toEqual([]);
});

test('a market with a book whose tokens cannot be read is not a pool', async () => {
  for (const tokens of [[], { yes: 7, no: '9' }, 'odd', null]) {
    const { market } = await sweep({ ...MARKET, tradeType: 'clob', status: 'FUNDED', expired: false, tokens });
    expect(market?.info.metadata).not.toHaveProperty('trade_type');
    expect(market?.state).toMatchObject({ status: 'open', liquidity: null });
  }
});

test.each([
  ['volume', -1],
  ['openInterest', '-5'],
  ['createdAt', '2026-02-30T10:00:00Z'],
  ['startAt', 'yesterday'],
  ['expirationTimestamp', 'never'],
  ['imageUrl', {}],
  ['metadata.openPrice', []],
])('%s of %j is unknown, and named', async (path, odd) => {
  const [field = '', inner] = path.split('.');
  const value = inner ? { ...(MARKET[field] as Row), [inner]: odd } : odd;
  const { market, warnings } = await sweep({ ...MARKET, [field]: value });
  expect(warnings).toEqual([
    { platform: 'limitless', kind: 'market', id: '25-1779377186831', field: path, reason: expect.any(String) },
  ]);
  expect(market?.info.title).toBe('Satellites in orbit above 25 in Q4?');
});

test('an unreadable picture takes neither name nor category from the markets of its group', async () => {
  const { market, neighbour } = await sweep(MARKET, { ...GROUP, imageUrl: { url: 'x' }, logo: 5 });
  expect(market?.info).toMatchObject({ eventName: GROUP.title, eventId: 'harbour-1' });
  expect(neighbour?.info).toMatchObject({ eventName: GROUP.title, imageUrl: '5' });
});

test('markets of a group that cannot be read are stored without it', async () => {
  const { market, neighbour, warnings } = await sweep(MARKET, { ...GROUP, slug: {} });
  expect([market?.info.title, neighbour?.info.title]).toEqual(['25', '30']);
  expect(warnings).toEqual([expect.objectContaining({ kind: 'event', reason: expect.stringContaining('slug') })]);
  expect((await sweep(MARKET, { ...GROUP, title: [] })).market?.info).toMatchObject({ title: '25', eventName: '' });
});

test('amounts of a pool whose collateral cannot be read are unknown, not US dollars', async () => {
  const pool = { ...MARKET, tradeType: 'amm', tokens: undefined, collateralToken: 'WETH' };
  for (const one of [pool, { ...pool, collateralToken: { symbol: [], decimals: 18 } }]) {
    const { market } = await sweep(one);
    expect(market?.state).toMatchObject({ volumeTotal: null, openInterest: null });
    expect(market?.info.metadata).toMatchObject({ volume_basis: 'raw', collateral: null });
  }
});

test('an order book is in USDC, unless its row names another token or other decimals', async () => {
  const { market: whole } = await sweep(MARKET);
  expect(whole?.state.volumeTotal).not.toBeNull();
  for (const collateralToken of [{ address: '0x1', decimals: 6 }, { symbol: [], decimals: 6 }, 'USDC'])
    expect((await sweep({ ...MARKET, collateralToken })).market?.state.volumeTotal).toBe(whole?.state.volumeTotal);
  const { market } = await sweep({ ...MARKET, collateralToken: { decimals: 18 } });
  expect([market?.state.volumeTotal, market?.info.metadata['collateral']]).toEqual([null, null]);
});

test('quotes that are no prices are as unknown as absent ones', async () => {
  const open = { ...MARKET, status: 'FUNDED', expired: false };
  for (const buy of [
    [1.5, 0.5],
    [-0.2, 0.8],
    [42, 58],
  ]) {
    const tradePrices = { buy: { market: buy, limit: [0.4, 0.5] }, sell: { market: [0.4, 0.5], limit: buy } };
    const { market, warnings } = await sweep({ ...open, tradePrices });
    expect(market?.state.quotes[0]).toEqual({ price: null, bid: 4_000_000_000n, ask: null });
    expect(isWarned(warnings, 'tradePrices')).toBe(true);
  }
});

test('a volume with a fraction of a base unit is in other units: it is unknown, and counted', async () => {
  const { market, warnings } = await sweep({ ...MARKET, volume: '227.209' });
  expect(market).toEqual((await sweep(without(MARKET, 'volume'))).market);
  expect(warnings).toEqual([
    expect.objectContaining({ field: 'volume', reason: expect.stringContaining('not a whole') }),
  ]);
});
