import { describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../src/core/decimal.ts';
import {
  createKalshiUsers,
  mapKalshiHolding,
  mapKalshiUserTrade,
  SocialHolding,
  SocialTrade,
} from '../../src/platforms/kalshi/users.ts';
import {
  createPolymarketUsers,
  mapPolymarketPosition,
  mapPolymarketUserTrade,
} from '../../src/platforms/polymarket/users.ts';
import { answerError } from '../../src/platforms/http/errors.ts';
import { dataTrade, positionRow } from '../../src/platforms/polymarket/wire.ts';
import { type TradePosition, type UserTrade } from '../../src/platforms/user-contract.ts';
import { tradesAfter } from '../../src/platforms/users/trade-pages.ts';
import { cannedHttp, readContext, refuse, SETTINGS } from '../fixtures/canned-http.ts';
import { dataEnvelope, hex, token, tradeRow } from '../fixtures/polymarket/rows.ts';

type Answer = (path: string, query: URLSearchParams) => unknown;

const kalshi = (answer: Answer) => {
  const http = cannedHttp(answer);
  return { social: createKalshiUsers({ http, settings: SETTINGS }), http, context: readContext() };
};
const COMBOS = '/v2/positions/combos';
/** Of users without combos. */
const polymarket = (answer: Answer) => {
  const http = cannedHttp((path, query) => (path === COMBOS ? dataEnvelope([], null) : answer(path, query)));
  return { social: createPolymarketUsers({ http, settings: SETTINGS }), http, context: readContext() };
};

const WALLET = '0xa66790e2b0075e73c3781ddaf1d0b875a3aaceb3';

const socialTrade = (over: object = {}) => ({
  trade_id: 't-1',
  market_id: '00000000-5151-6a6a-0000-000000000001',
  ticker: 'KXOTTERCUP-1',
  price: 81,
  price_dollars: '0.8100',
  count: 2,
  count_fp: '2.50',
  taker_side: 'yes',
  maker_action: '',
  taker_action: 'buy',
  maker_nickname: 'quiet.otter',
  taker_nickname: 'loud.otter',
  maker_social_id: 'm',
  taker_social_id: 't',
  create_date: '2026-10-06T06:38:11.43625Z',
  ...over,
});
const seenBy = (nickname: string, over: object = {}) =>
  mapKalshiUserTrade(SocialTrade.parse(socialTrade(over)), nickname);

describe('a Kalshi fill', () => {
  test('is a purchase at the Yes price for its taker, of the other outcome at 1 − p for its maker', () => {
    expect(seenBy('loud.otter')).toMatchObject({ side: 'buy', outcome: { id: 'yes' }, price: parsePrice('0.81') });
    expect(seenBy('quiet.otter')).toMatchObject({ side: 'buy', outcome: { id: 'no' }, price: parsePrice('0.19') });
    const no = { taker_side: 'no' };
    expect(seenBy('loud.otter', no)).toMatchObject({ outcome: { id: 'no' }, price: parsePrice('0.19') });
    expect(seenBy('quiet.otter', no)).toMatchObject({ outcome: { id: 'yes' }, price: parsePrice('0.81') });
  });

  test('with oneself is the taker row', () => {
    expect(seenBy('both', { maker_nickname: 'both', taker_nickname: 'both' })?.outcome).toEqual({ id: 'yes' });
  });

  test('keeps parts of a contract, the microsecond, and whom the other side shows', () => {
    expect(seenBy('loud.otter', { maker_nickname: '' })).toMatchObject({
      size: parseSize('2.5'),
      executedAtUs: Date.parse('2026-10-06T06:38:11.436Z') * 1000 + 250,
      metadata: { maker_nickname: '', maker_action: '' },
    });
  });

  test('keeps its size where one of its two counts is 0', () => {
    expect(seenBy('loud.otter', { count_fp: '0.20', count: 0 })).toMatchObject({ size: parseSize('0.2') });
    expect(seenBy('loud.otter', { count_fp: '0.00', count: 2 })).toMatchObject({ size: parseSize('2') });
  });

  test.each([
    [{ price_dollars: '81' }],
    [{ price_dollars: '-0.1' }],
    [{ count_fp: '-2.50' }],
    [{ count_fp: '0.00', count: 0 }],
    [{ count_fp: null, count: 0 }],
  ])('with %j is not read: no trade has such numbers', (odd) => {
    expect(SocialTrade.safeParse(socialTrade(odd)).success).toBe(false);
  });

  test('of other people is nobody’s here', () => {
    expect(seenBy('third.otter')).toBeNull();
  });
});

test('a Kalshi holding is Yes when positive, No when negative, and nothing when flat', () => {
  const rows = [
    { market_ticker: 'KX-1', signed_open_position: 4, signed_open_position_fp: '4.25', pnl: 1 },
    { market_ticker: 'KX-2', signed_open_position: -4187, pnl: 445_000 },
    { market_ticker: 'KX-3', signed_open_position: 0, pnl: 9 },
  ];
  expect(rows.map((row) => mapKalshiHolding(SocialHolding.parse(row)))).toEqual([
    expect.objectContaining({ ref: 'KX-1', tokenId: 'KX-1:yes', label: 'Yes', size: parseSize('4.25') }),
    expect.objectContaining({ ref: 'KX-2', tokenId: 'KX-2:no', label: 'No', size: parseSize('4187') }),
    null,
  ]);
});

const position = (over: object = {}) => ({
  proxy_wallet: WALLET,
  token_id: token(12),
  condition_id: hex(0xabc),
  current_size: 28.09,
  avg_price: 0.6699,
  current_price: 0.715,
  status: 'OPEN',
  redeemable: false,
  title: 'Will the harbour bridge open in 2027?',
  outcome: 'No',
  outcome_index: 1,
  opposite_outcome: 'Yes',
  ...over,
});
const smallestShown = async (size: number) => {
  const { social: one, context } = polymarket(() => dataEnvelope([position({ current_size: size })], null));
  return (await one.positions(WALLET, context)).smallest;
};
const held = (over: object = {}) => mapPolymarketPosition(positionRow.parse(position(over)));

describe('a Polymarket user', () => {
  test('a fill keeps its side and its token; which outcome that is, the listing shows', () => {
    const row = dataTrade.parse(tradeRow({ side: 'SELL', token_id: token(12), outcome_index: 999, outcome: 'No' }));
    expect(mapPolymarketUserTrade(row, 'id')).toMatchObject({
      ref: hex(0xabc),
      ticker: 'harbour-bridge-2027',
      side: 'sell',
      outcome: { tokenId: token(12), name: 'No' },
      metadata: { maker_nickname: '', maker_action: '' },
    });
  });

  test('a position is labelled by its outcome; its price names no winner, redeemable or not', () => {
    expect(held()).toMatchObject({ label: 'No', size: parseSize('28.09'), redeemable: false, winner: '' });
    for (const current_price of [0, 0.5, 1]) expect(held({ redeemable: true, current_price }).winner).toBe('');
  });

  test.each([
    [{ entry_cost_usdc: 18.5 }, '18.5'],
    [{ entry_cost_usdc: '17.25', avg_price: null }, '17.25'],
    [{ entry_cost_usdc: 0 }, '0'],
    [{ entry_cost_usdc: null }, '18.817491'],
    [{}, '18.817491'],
    [{ avg_price: null }, null],
  ])('a position of %j has the cost that the row states, else its size at the average price: %s', (over, cost) => {
    expect(held(over).stated.cost).toBe(cost === null ? null : parseUsd(cost));
  });

  test('is found by wallet in any case, or by the exact name of a profile', async () => {
    const profiles = [null, { name: 'otterly', proxyWallet: hex(5, 40) }, { name: 'otter', proxyWallet: hex(6, 40) }];
    const {
      social: otters,
      http,
      context,
    } = polymarket((path) => (path === '/public-search' ? { events: [], profiles } : dataEnvelope([], null)));
    expect((await otters.positions(WALLET.toUpperCase().replace('0X', '0x'), context)).user).toBe(WALLET);
    expect((await otters.positions('@otter', context)).user).toBe(hex(6, 40));
    await expect(otters.positions('Otter', context)).rejects.toMatchObject({ kind: 'not_found' });
    expect(http.asked.some((line) => line.includes('search_profiles=true'))).toBe(true);
  });

  test('every page of positions is asked for without a floor and with archived rows; flat ones are left out', async () => {
    const listed = [position(), position({ token_id: token(3), current_size: 0 })];
    const pages = [dataEnvelope(listed, 'more'), dataEnvelope([position({ token_id: token(1) })], null)];
    const { social: one, http, context } = polymarket(() => pages.shift());
    const { positions } = await one.positions(WALLET, context);
    expect(positions.map(({ tokenId }) => tokenId).toSorted()).toEqual([token(1), token(12)]);
    const filters = `user=${WALLET}&status=OPEN&filter_type=TOKENS&filter_amount=0&include_archived=true&sort_by=TOKENS`;
    expect(http.asked.filter((line) => line.includes(filters))).toHaveLength(2);
  });

  test('a position is on a page although its price moves it in the list by value while pages are read', async () => {
    const prices = [0.9, 0.5, 0.1];
    const keyOf = (sort: string | null, at: number) => (sort === 'TOKENS' ? 30 - at : (30 - at) * (prices[at] ?? 0));
    const { social: one, context } = polymarket((_, query) => {
      const key = (at: number) => keyOf(query.get('sort_by'), at);
      const after = Number(query.get('cursor') ?? Infinity);
      const [next] = [0, 1, 2].filter((at) => key(at) < after).toSorted((a, b) => key(b) - key(a));
      if (next === undefined) return dataEnvelope([], null);
      const row = position({ token_id: token(next), current_size: 30 - next });
      const reply = dataEnvelope([row], String(key(next)));
      prices.push(prices.shift() ?? 0);
      return reply;
    });
    const { positions } = await one.positions(WALLET, context);
    expect(positions.map(({ tokenId }) => tokenId)).toEqual([token(0), token(1), token(2)]);
  });

  test('the least position that is sure to be shown is named, unless a smaller one proves that all are', async () => {
    expect(await smallestShown(28)).toBe(parseSize('0.1'));
    expect(await smallestShown(0.05)).toBeNull();
  });

  test('positions are not all when a row could not be read', async () => {
    const rows = [position(), position({ token_id: 'none' })];
    const { social: one, context } = polymarket(() => dataEnvelope(rows, null));
    expect(await one.positions(WALLET, context)).toMatchObject({ isAll: false });
  });

  test('an odd field of a position or a fill costs that field alone', async () => {
    const rows = [position({ title: {}, avg_price: [], redeemable: 'x' }), position({ token_id: token(3) })];
    const one = polymarket(() => dataEnvelope(rows, null));
    const { positions, isAll } = await one.social.positions(WALLET, one.context);
    expect(positions[0]).toMatchObject({ title: '', redeemable: false, stated: { averagePrice: null } });
    expect([positions.length, isAll]).toEqual([2, true]);
    const fields = one.context.badRows.map(({ id, field }) => [id, field]);
    expect(fields).toEqual(['avg_price', 'redeemable', 'title'].map((field) => [token(12), field]));
    const other = polymarket(() => dataEnvelope([tradeRow({ title: [], profile_image: {}, name: true })], null));
    const { trades } = await other.social.userTrades(WALLET, { limit: 5, position: null }, other.context);
    expect(trades).toMatchObject([{ title: '', ticker: 'harbour-bridge-2027' }]);
    expect(other.context.badRows).toHaveLength(3);
  });

  test('more positions than are read are marked as more', async () => {
    const endless = polymarket((_, query) =>
      dataEnvelope(
        [position({ token_id: token(Number(query.get('cursor') ?? 0) + 1) })],
        String(Number(query.get('cursor') ?? 0) + 1),
      ),
    );
    expect(await endless.social.positions(WALLET, endless.context)).toMatchObject({ isAll: false });
    const few = polymarket(() => dataEnvelope([position()], null));
    expect(await few.social.positions(WALLET, few.context)).toMatchObject({ isAll: true });
  });

  test('a documented miss (data: null) is an empty list', async () => {
    const { social: none, context } = polymarket(() => ({ data: null }));
    expect((await none.positions(WALLET, context)).positions).toEqual([]);
  });

  test('rows of another shape are a bad answer that names the endpoint; one bad row is left out', async () => {
    const changed = polymarket(() => dataEnvelope([{ id: 1 }, { id: 2 }], null));
    await expect(changed.social.positions(WALLET, changed.context)).rejects.toMatchObject({
      kind: 'bad_answer',
      detail: expect.stringContaining('/v2/positions'),
    });
    const whole = polymarket(() => ({ rows: [] }));
    const page = { limit: 5, position: null };
    await expect(whole.social.userTrades(WALLET, page, whole.context)).rejects.toMatchObject({
      kind: 'bad_answer',
      detail: expect.stringContaining('/v2/trades'),
    });
    const one = polymarket(() => dataEnvelope([tradeRow(), { id: 2 }], null));
    expect((await one.social.userTrades(WALLET, page, one.context)).trades).toHaveLength(1);
    expect(one.context.badRows).toHaveLength(1);
  });
});

const holdings = (...tickers: string[]) => [
  { market_holdings: tickers.map((market_ticker) => ({ market_ticker, signed_open_position: 1 })) },
];

describe('a Kalshi user', () => {
  const page = { limit: 50, position: null };

  test('who hides has no rows and says so; who is unknown is not found', async () => {
    const hidden = kalshi(() => ({ trades: [], holdings: [], cursor: '', visibility_state: 'hidden' }));
    expect(await hidden.social.userTrades('shy', page, hidden.context)).toMatchObject({
      trades: [],
      visibility: 'hidden',
    });
    expect(await hidden.social.positions('shy', hidden.context)).toMatchObject({ positions: [], visibility: 'hidden' });
    const unknown = kalshi(() => refuse('not_found', 404, { error: { code: 'not_found' } }));
    await expect(unknown.social.positions('nobody', unknown.context)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test.each([
    [{ trades: null, holdings: null }, 'hidden'],
    [{}, 'hidden'],
    [{ trades: null, holdings: null }, 'public'],
    [{ trades: [], holdings: [{ market_holdings: null }] }, 'public'],
  ])('with the lists %j and the state %s has no rows', async (lists, visibility) => {
    const one = kalshi(() => ({ ...lists, cursor: '', visibility_state: visibility === 'hidden' ? 'hidden' : null }));
    const trades = await one.social.userTrades('shy', page, one.context);
    expect(trades).toMatchObject({ trades: [], total: 0, isTotal: true, visibility });
    const held = await one.social.positions('shy', one.context);
    expect(held).toMatchObject({ positions: [], isAll: true, visibility });
    expect(one.context.badRows).toEqual([]);
  });

  test('who is public and whose body lacks the list is a bad answer that names it', async () => {
    const renamed = kalshi(() => ({ fills: [], positions: [], cursor: '' }));
    const reads = {
      trades: () => renamed.social.userTrades('loud', page, renamed.context),
      holdings: () => renamed.social.positions('loud', renamed.context),
    };
    for (const [list, read] of Object.entries(reads)) {
      const detail = expect.stringContaining(`${list}: missing`);
      await expect(read()).rejects.toMatchObject({ kind: 'bad_answer', detail });
    }
  });

  test('everyone’s trades instead of the user’s are a bad answer', async () => {
    const { social: others, context } = kalshi(() => ({ trades: [socialTrade(), socialTrade()], cursor: '' }));
    await expect(others.userTrades('third.otter', page, context)).rejects.toMatchObject({
      kind: 'bad_answer',
      detail: expect.stringContaining('/social/trades'),
    });
    expect(context.badRows).toHaveLength(2);
  });

  test('an odd field of a fill costs that field alone, and an odd holding itself', async () => {
    const odd = socialTrade({ maker_nickname: {}, maker_social_id: [], maker_action: true });
    const fills = kalshi(() => ({ trades: [odd, socialTrade({ trade_id: 't-2', price_dollars: [] })], cursor: '' }));
    const { trades, isTotal } = await fills.social.userTrades('loud.otter', page, fills.context);
    expect(trades).toMatchObject([{ tradeId: 't-1', metadata: { maker_nickname: '', maker_action: '' } }]);
    expect(isTotal).toBe(false);
    const [event] = holdings('KX-1', 'KX-2');
    event?.market_holdings.push({ market_ticker: 'KX-3', signed_open_position: 'many' as never });
    const held = kalshi(() => ({ holdings: [event], cursor: '' }));
    const { positions, isAll } = await held.social.positions('rich', held.context);
    expect(positions.map(({ ref }) => ref)).toEqual(['KX-1', 'KX-2']);
    expect(isAll).toBe(false);
    expect(held.context.badRows).toEqual([expect.objectContaining({ kind: 'market', id: 'KX-3' })]);
  });

  test('a holding without a quantity is no flat one: it is counted, and only such holdings are a bad answer', async () => {
    const [event] = holdings('KX-1');
    event?.market_holdings.push({ market_ticker: 'KX-2' } as never, { market_ticker: 'KX-3', open: 5 } as never);
    const partly = kalshi(() => ({ holdings: [event], cursor: '' }));
    const { positions, isAll } = await partly.social.positions('rich', partly.context);
    expect([positions.map(({ ref }) => ref), isAll]).toEqual([['KX-1'], false]);
    expect(partly.context.badRows.map(({ id, reason }) => [id, reason])).toEqual([
      ['KX-2', 'signed_open_position_fp: missing'],
      ['KX-3', 'signed_open_position_fp: missing'],
    ]);
    const renamed = kalshi(() => ({
      holdings: [{ market_holdings: [{ market_ticker: 'KX-2', open: 5 }] }],
      cursor: '',
    }));
    await expect(renamed.social.positions('rich', renamed.context)).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  test('holdings are read to the last page', async () => {
    const { social: rich, context } = kalshi((_, query) => ({
      holdings: [{ market_holdings: [{ market_ticker: `KX-${query.get('cursor') ?? 0}`, signed_open_position: 1 }] }],
      cursor: query.get('cursor') === '2' ? '' : String(Number(query.get('cursor') ?? 0) + 1),
    }));
    const { positions } = await rich.positions('rich', context);
    expect(positions.map(({ ref }) => ref)).toEqual(['KX-0', 'KX-1', 'KX-2']);
  });

  test('a holding that slips onto the next page while the pages are read is shown once', async () => {
    const { social: moving, context } = kalshi((_, query) =>
      query.has('cursor')
        ? { holdings: holdings('KX-1', 'KX-2'), cursor: '' }
        : { holdings: holdings('KX-0', 'KX-1'), cursor: 'next' },
    );
    const { positions } = await moving.positions('rich', context);
    expect(positions.map(({ ref }) => ref)).toEqual(['KX-0', 'KX-1', 'KX-2']);
  });

  test('blocked or gone: out of reach, with the endpoint named; nobody’s key and nobody’s name is at fault', async () => {
    const html = '<html><title>Just a moment</title></html>';
    const answers = [
      [401, '{"error":{"code":"unauthorized"}}', 'geo_blocked'],
      [403, '{"error":{"code":"forbidden"}}', 'geo_blocked'],
      [403, html, 'geo_blocked'],
      [404, '404 page not found', 'unavailable'],
    ] as const;
    for (const [status, text, kind] of answers) {
      const body: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
      const { social: shut, context } = kalshi(() => {
        throw answerError('kalshi', { status, headers: {}, text }, body, { nowMs: Date.now() });
      });
      await expect(shut.positions('anyone', context)).rejects.toMatchObject({
        kind,
        detail: expect.stringContaining('/social/profile/holdings: '),
      });
    }
  });
});

const trade = (id: number): UserTrade => ({
  tradeId: String(id),
  ref: 'KX-1',
  ticker: 'KX-1',
  title: '',
  side: 'buy',
  outcome: { id: 'yes' },
  price: 0n,
  size: 0n,
  // Two trades share each microsecond.
  executedAtUs: Math.floor(id / 2),
  metadata: {},
});
const down = (from: number) => Array.from({ length: from }, (_, at) => String(from - at));

/** The platform's list, newest first, in pages of 10 whose cursor is the last id given. */
const source = (newest: () => number) => async (cursor: string) => {
  const from = cursor === '' ? newest() : Number(cursor) - 1;
  const ids = Array.from({ length: Math.min(10, from) }, (_, at) => from - at);
  const last = ids.at(-1) ?? 0;
  return {
    trades: ids.map(trade),
    next: last > 1 ? String(last) : '',
    visibility: 'public' as const,
    readAt: 'now',
    isWhole: true,
  };
};

/** Forty-one pages, of which these hold a trade. */
const sparse = (held: readonly number[]) => async (cursor: string) => {
  const at = Number(cursor || '0');
  const trades = held.includes(at) ? [trade(40 - at)] : [];
  return { trades, next: at === 40 ? '' : String(at + 1), visibility: 'public' as const, readAt: 'now', isWhole: true };
};

const walk = async (newest: () => number, limits: number[]) => {
  const ids: string[] = [];
  let position: TradePosition | null = null;
  for (let at = 0; ; at += 1) {
    const page = await tradesAfter('me', source(newest), { limit: limits[at % limits.length] ?? 1, position });
    ids.push(...page.trades.map(({ tradeId }) => tradeId));
    if (!page.next) return { ids, page };
    position = page.next;
  }
};
describe('pages of trades', () => {
  test.each([[[1]], [[3]], [[10]], [[7, 25]], [[100]]])(
    'of %j rows hold each trade once, and the last says it is',
    async (limits) => {
      const { ids, page } = await walk(() => 43, limits);
      expect(ids).toEqual(down(43));
      expect(page).toMatchObject({ next: null, total: 43, isTotal: true });
    },
  );

  test('hold each older trade once while new ones push them down, onto the next page too', async () => {
    let newest = 40;
    const { ids } = await walk(() => (newest += 3), [4]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => Number(id) <= 40)).toEqual(down(40));
  });

  test('go on with older trades when the one they stopped at is gone', async () => {
    const position = { cursor: '', id: 'gone', us: 10, seen: 4, isWhole: true };
    const { trades, total } = await tradesAfter(
      'me',
      source(() => 25),
      { limit: 3, position },
    );
    expect(trades.map(({ tradeId }) => tradeId)).toEqual(['19', '18', '17']);
    expect(total).toBeGreaterThan(7);
  });

  test('are not over while the one they stopped at is still further down than one answer reads', async () => {
    let [newest, asked] = [40, 0];
    const { ids } = await walk(() => (++asked === 2 ? (newest += 300) : newest), [4]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => Number(id) <= 40)).toEqual(down(40));
  });

  test.each([[[0, 40]], [[15, 40]], [[40]]])('go on behind pages without trades: only %j hold one', async (held) => {
    const ids: string[] = [];
    let position: TradePosition | null = null;
    for (let answers = 0; answers < 10; answers += 1) {
      const page = await tradesAfter('me', sparse(held), { limit: 1, position });
      ids.push(...page.trades.map(({ tradeId }) => tradeId));
      position = page.next;
      if (position === null) break;
    }
    expect([ids, position]).toEqual([held.map((at) => trade(40 - at).tradeId), null]);
  });

  test('end where the platform gives the same cursor again', async () => {
    const pages: Record<string, string> = { '': 'a', a: 'b', b: 'b' };
    const read = async (cursor: string) => ({ ...(await source(() => 5)('')), next: pages[cursor] ?? '' });
    const first = await tradesAfter('me', read, { limit: 100, position: null });
    expect([first.trades.length, first.next]).toEqual([15, null]);
  });

  test('an empty list is the last page', async () => {
    expect((await walk(() => 0, [5])).page).toMatchObject({ trades: [], next: null, total: 0, isTotal: true });
  });
});
