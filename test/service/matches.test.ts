import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf, startWholeService, type WholeService } from '../helpers/whole-service.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';
import { shareQuestions } from '../simulators/shared-questions.ts';

waitsInRealTime('the service sweeps and matches every two seconds');

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
