import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openEventStream } from '../helpers/event-stream.ts';
import { MatchGapEvent } from '../../src/schemas/stream-events.ts';
import { json, type ReplyEdit } from '../simulators/lib/index.ts';
import { rowsOf, startWholeService, type WholeService } from '../helpers/whole-service.ts';
import { shareQuestions } from '../simulators/shared-questions.ts';

let whole: WholeService;

beforeAll(async () => {
  whole = await startWholeService();
  const [kalshi, polymarket, limitless] = whole.simulators;
  shareQuestions({ kalshi, polymarket, limitless });
  await rowsOf(whole, `SELECT 1 FROM v_matches WHERE relation = 'identical' AND kind = 'price'`);
  await rowsOf(whole, `SELECT 1 FROM v_matches WHERE kind = 'game' AND relation = 'identical'`);
  await rowsOf(whole, `SELECT 1 FROM v_matches WHERE kind = 'game' AND relation = 'complement' HAVING count() >= 3`);
}, 120_000);
afterAll(() => whole.close());

test('questions that the platforms share are found, and the traps beside them are not taken for them', async () => {
  const rows = await whole.sql<{ a: string; b: string; relation: string }>(
    `SELECT concat(a.platform, ' ', a.title, ifNull(concat(' ', a.outcome_name), '')) AS a, concat(b.platform, ' ', b.title) AS b, relation
     FROM v_matches AS m JOIN v_markets AS a ON a.market_key = m.a_market_key JOIN v_markets AS b ON b.market_key = m.b_market_key
     WHERE relation IN ('identical', 'complement') ORDER BY a, b`,
  );
  const prices = rows.filter(({ a }) => a.includes('Bitcoin'));
  expect(prices.map(({ a, relation }) => [/\d+PM/.exec(a)?.[0], relation])).toEqual([['12PM', 'identical']]);
  const games = rows.filter(({ b }) => b.includes('vs') && !b.includes('Bitcoin'));
  expect(games.filter(({ a }) => a.startsWith('polymarket')).map(({ relation }) => relation)).toEqual(['complement']);
  expect(games.filter(({ a }) => a.startsWith('kalshi')).length).toBe(4);
  expect(rows.filter(({ a, b }) => `${a}${b}`.includes('Spread'))).toEqual([]);
});

/** From now on every ask of a market on Limitless is at this price, with 500 contracts. */
const askAt =
  (price: number): ReplyEdit =>
  ({ path }, reply) => {
    if (!path.endsWith('/orderbook') || reply.status !== 200) return reply;
    const book = { bids: [], asks: [{ price, size: 500_000_000, side: 'SELL' }] };
    return json(200, { ...(JSON.parse(String(reply.body)) as object), ...book });
  };

interface Pair {
  id: string;
  a: { id: string };
  b: { id: string };
}

/** The price that Limitless and another platform ask for; the API gives a pair once its copy in PostgreSQL has it. */
const priceOnLimitless = (): Promise<Pair> =>
  vi.waitFor(
    async () => {
      const reply = await whole.get('/v1/api/matches?relation=identical&platform=limitless&limit=100');
      const { matches } = (await reply.json()) as { matches: (Pair & { kind: string })[] };
      const pair = matches.find(({ kind }) => kind === 'price');
      if (!pair) throw new Error('no pair of prices yet');
      return pair;
    },
    { timeout: 30_000, interval: 1000 },
  );

test('an alert on a gap comes when the edge after fees is reached at the size, and when it is so no longer', async () => {
  const limitless = whole.simulators[2];
  const pair = await priceOnLimitless();
  const [, slug] = [pair.a.id, pair.b.id].find((id) => id.startsWith('limitless:'))!.split(':');
  const booksRead = (): number => limitless.requests.get(`GET /markets/${slug}/orderbook`) ?? 0;
  const asked = `channels=match_gaps&size=10&min_edge=0.05`;
  limitless.rewrite(askAt(0.99));
  const headers = { 'x-api-key': whole.key };
  const open = (which: string) => openEventStream(`${whole.service.url}/v1/api/stream?${asked}&${which}`, headers);
  const [byId, byMarket] = await Promise.all([open(`match_ids=${pair.id}`), open(`market_ids=${pair.a.id}`)]);
  try {
    expect(byId.status, byId.text).toBe(200);
    // The service reads the book each time that it looks for gaps.
    const before = booksRead();
    await expect.poll(booksRead, { timeout: 60_000 }).toBeGreaterThan(before + 1);
    expect([byId, byMarket].flatMap(({ frames }) => frames).filter(({ event }) => event === 'match_gap')).toEqual([]);
    limitless.rewrite(askAt(0.01));
    for (const stream of [byId, byMarket]) {
      const [first] = await stream.until('match_gap', 1);
      const event = MatchGapEvent.parse(first?.data);
      expect(event).toMatchObject({ type: 'reached', match_id: pair.id, size: 10, is_whole: true });
      expect(event.edge).toBeGreaterThanOrEqual(0.05);
      expect(event.edge_usd).toBeCloseTo(10 - (event.locked_usd ?? 0), 6);
    }
    limitless.rewrite(askAt(0.99));
    const ended = (await byId.until('match_gap', 2)).map(({ data }) => MatchGapEvent.parse(data));
    expect(ended.map(({ type }) => type)).toEqual(['reached', 'ended']);
  } finally {
    limitless.rewrite(null);
    for (const stream of [byId, byMarket]) stream.cut();
  }
}, 90_000);

test.each([
  [
    'without a pair or a market',
    'channels=match_gaps&size=10',
    400,
    'market_ids: 1 to 50 ids, or match_ids, with the channel match_gaps',
  ],
  ['without a size', 'channels=match_gaps&match_ids=PAIR', 400, 'size: a number above 0: either size or amount'],
  ['without its channel', 'channels=trades&size=10', 400, 'size: nothing without the channel match_gaps'],
  ['of a pair that is none', 'channels=match_gaps&size=10&match_ids=0000000000000000', 404, 'no verdict holds for'],
])('an alert %s is refused with what is missing', async (_which, query, status, says) => {
  const { matches } = (await (await whole.get('/v1/api/matches?limit=1')).json()) as { matches: Pair[] };
  const reply = await whole.get(`/v1/api/stream?${query.replace('PAIR', matches[0]?.id ?? '')}`);
  expect(reply.status).toBe(status);
  expect(await reply.text()).toContain(says);
});
