import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MarketRecord } from '../../src/core/model.ts';
import { systemClock } from '../../src/core/time.ts';
import { matchKey } from '../../src/core/market-key.ts';
import { giveVerdict, takeVerdictBack } from '../../src/present/match-verdicts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { type Browser, registered } from '../helpers/browser.ts';
import { type MarketStore, startMarketStore } from '../helpers/market-store.ts';
import { bitcoin, judgeAll, matcherOf } from '../helpers/matcher.ts';

interface Match {
  id: string;
  relation: string;
  rules_relation: string | null;
  verdict: { by: string; decision: string | null; note: string | null; is_on_older_texts: boolean };
  mapping: object[];
  reasons: object[];
}

let store: MarketStore;
/** The same stores behind the service's own caches. */
let service: TestApp;
let at = Date.now();

async function list(...records: MarketRecord[]): Promise<void> {
  at += 1000;
  for (const record of records) record.fetchedAt = new Date(at).toISOString();
  await store.list(...records);
}
async function judge(): Promise<void> {
  await judgeAll(matcherOf(store.clickhouse, systemClock, store.present));
}

let id = '';
let [one, other]: Browser[] = [];
const MATCHES = '/v1/api/matches';
let asked = 0;
/** A list that no cache has: each call has another limit. */
const listed = async (by: Browser | undefined, query = ''): Promise<Match[]> => {
  asked += 1;
  const answer = await by?.get(`${MATCHES}?limit=${20 + (asked % 80)}${query}`);
  return answer?.json<{ matches: Match[] }>().matches ?? [];
};
const whose = async (by: Browser | undefined): Promise<string[]> =>
  (await listed(by)).map(
    ({ relation, verdict, rules_relation: rules }) => `${relation} by ${verdict.by}, rules: ${rules}`,
  );

const gaps = async (by: Browser | undefined): Promise<number> =>
  (await by?.get(`${MATCHES}/gaps?size=10&market_id=K100&platform=kalshi`))?.json().matches.length;

beforeAll(async () => {
  store = await startMarketStore();
  service = await startTestApp({ clickhouse: store.clickhouse, postgres: store.app.postgres, present: store.present });
  [one, other] = [await registered(service), await registered(service)];
  await list(bitcoin('kalshi', 'K100', '100,000'), bitcoin('polymarket', 'P100', '100,000'));
  await judge();
  id = (await listed(one))[0]?.id ?? '';
}, 120_000);
afterAll(async () => {
  await service.close();
  await store.close();
});

test('a verdict of a user counts for this user alone, also in answers that are cached, and shows what the rules say', async () => {
  const path = `${MATCHES}/${id}`;
  expect((await other?.get(path))?.json().match.verdict.by).toBe('rules');
  const given = await one?.post(`${path}/verdict`, { decision: 'confirm', relation: 'subset', note: 'a tie differs' });
  expect(given?.statusCode).toBe(200);
  expect(given?.json().match).toMatchObject({
    relation: 'subset',
    rules_relation: 'identical',
    verdict: { by: 'user', decision: 'confirm', note: 'a tie differs', is_on_older_texts: false },
    mapping: [],
  });
  // The first read of each user fills the cache that the second one is answered from.
  for (const _ of [1, 2]) {
    expect((await one?.get(path))?.json().match.verdict.by).toBe('user');
    expect((await other?.get(path))?.json().match.verdict.by).toBe('rules');
  }
  const url = `${MATCHES}?market_id=K100&platform=kalshi`;
  for (const _ of [1, 2]) {
    expect((await one?.get(url))?.json().matches[0].relation).toBe('subset');
    expect((await other?.get(url))?.json().matches[0].relation).toBe('identical');
  }
});

test('lists and gaps choose by the verdict that counts', async () => {
  expect(await listed(one, '&relation=identical')).toEqual([]);
  expect(await listed(one, '&relation=subset')).toHaveLength(1);
  expect(await listed(one, '&verdict_by=user')).toHaveLength(1);
  expect(await listed(other, '&verdict_by=user')).toEqual([]);
  expect([await gaps(one), await gaps(other)]).toEqual([0, 1]);
});

test('a refused pair has the relation unknown and no outcomes that pay together', async () => {
  await one?.post(`${MATCHES}/${id}/verdict`, { decision: 'refuse' });
  const [match] = await listed(one);
  expect(match).toMatchObject({
    relation: 'unknown',
    rules_relation: 'identical',
    verdict: { by: 'user', decision: 'refuse', note: null },
    mapping: [],
  });
});

test("the operator's verdict counts for all but those with their own, until it is forgotten", async () => {
  const { db } = store.app.postgres;
  expect(await giveVerdict(db, null, matchKey(id) ?? '', { relation: 'complement', note: null })).toBe('given');
  expect(await whose(one)).toEqual(['unknown by user, rules: identical']);
  expect(await whose(other)).toEqual(['complement by operator, rules: identical']);
  await takeVerdictBack(db, null, matchKey(id) ?? '');
  expect(await whose(other)).toEqual(['identical by rules, rules: identical']);
});

test('a verdict of a person stays when a text changes, marked as given on older texts', async () => {
  await one?.post(`${MATCHES}/${id}/verdict`, { decision: 'confirm', relation: 'identical' });
  await list(bitcoin('polymarket', 'P100', '110,000'));
  expect(await whose(other)).toEqual([]);
  const [match] = await listed(one);
  expect(match).toMatchObject({ relation: 'identical', rules_relation: null, reasons: [] });
  expect(match?.verdict.is_on_older_texts).toBe(true);
  await judge();
  expect(await whose(other)).toEqual(['superset by rules, rules: superset']);
  expect(await whose(one)).toEqual(['identical by user, rules: superset']);
});

test('a verdict is taken back once or twice, and the rules count again', async () => {
  for (const _ of [1, 2]) {
    const taken = await one?.delete(`${MATCHES}/${id}/verdict`);
    expect([taken?.statusCode, taken?.json().match.verdict.by]).toEqual([200, 'rules']);
  }
});

test('a verdict without its relation, on no pair, or with a long note is refused with the field', async () => {
  const post = async (of: string, body: object) => {
    const answer = await one?.post(`${MATCHES}/${of}/verdict`, body);
    return [answer?.statusCode, String(answer?.json().error.error_text).split(':')[0]];
  };
  expect(await post(id, { decision: 'confirm' })).toEqual([400, expect.stringContaining('relation')]);
  expect(await post(id, { decision: 'refuse', relation: 'subset' })).toEqual([
    400,
    expect.stringContaining('relation'),
  ]);
  expect(await post(id, { decision: 'confirm', relation: 'unknown' })).toEqual([
    400,
    expect.stringContaining('relation'),
  ]);
  expect(await post(id, { decision: 'refuse', note: 'x'.repeat(501) })).toEqual([400, expect.stringContaining('note')]);
  expect((await post('0123456789abcdef', { decision: 'refuse' }))[0]).toBe(404);
  expect((await post('nothing', { decision: 'refuse' }))[0]).toBe(404);
  expect((await one?.post(`${MATCHES}/${id}/verdict`, { decision: 'refuse', note: 'y'.repeat(500) }))?.statusCode).toBe(
    200,
  );
});
