import { afterAll, beforeAll, expect, test } from 'vitest';
import { forgetSettled } from '../../ingest/matches/retention.ts';
import type { MarketMatcher } from '../../ingest/matches/matcher.ts';
import type { MarketRecord, Platform } from '../../src/core/model.ts';
import { PLATFORMS } from '../../src/core/model.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { LEASE, market } from '../helpers/market-store.ts';
import { bitcoin, matcherOf as matcherOver, NO_COPY } from '../helpers/matcher.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { hurriedClock, virtualClock } from '../helpers/virtual-clock.ts';

let clickhouse: ClickHouse;
let writer: MarketWriter;
const clock = virtualClock(Date.now());
const { signal } = new AbortController();

beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
  writer = new MarketWriter(clickhouse, hurriedClock);
}, 120_000);
afterAll(() => clickhouse.close());

const matcherOf = (store: ClickHouse = clickhouse): MarketMatcher => matcherOver(store, clock);

/** Later than the last version of any market: versions are of milliseconds. */
let at = Date.now();
async function list(...records: MarketRecord[]): Promise<void> {
  at += 1000;
  for (const platform of PLATFORMS) {
    const own = records.filter(({ info }) => info.platform === platform);
    for (const record of own) record.fetchedAt = new Date(at).toISOString();
    if (own.length > 0) await writer.write(platform, own);
  }
}

async function step(matcher: MarketMatcher, ...platforms: Platform[]): Promise<number[]> {
  const counts: number[] = [];
  for (const platform of platforms.length > 0 ? platforms : PLATFORMS)
    counts.push(await matcher.step(platform, signal));
  await clock.advance(1000);
  return counts;
}

interface Row {
  a: string;
  b: string;
  relation: string;
  is_withdrawn: boolean;
  holds: boolean;
}
/** Every verdict of the store; `holds`: both texts are still those that it was made on. */
const verdicts = (): Promise<Row[]> =>
  clickhouse.sql<Row>(
    `SELECT a.ref AS a, b.ref AS b, m.relation AS relation, m.is_withdrawn AS is_withdrawn,
       (m.a_key, m.a_texts) IN (SELECT market_key, texts FROM market_questions FINAL)
       AND (m.b_key, m.b_texts) IN (SELECT market_key, texts FROM market_questions FINAL) AS holds
     FROM matches AS m FINAL JOIN markets AS a FINAL ON a.market_key = m.a_key JOIN markets AS b FINAL ON b.market_key = m.b_key
     ORDER BY a, b`,
  );
const holding = async (): Promise<string[]> =>
  (await verdicts())
    .filter((row) => row.holds && !row.is_withdrawn)
    .map(({ a, b, relation }) => `${a} ${relation} ${b}`);

test('a new market is matched with the markets of the other platforms, and with none of its own', async () => {
  const matcher = matcherOf();
  await list(bitcoin('kalshi', 'K100', '100,000'), bitcoin('kalshi', 'K110', '110,000'));
  expect(await step(matcher)).toEqual([2, 0, 0]);
  expect(await holding()).toEqual([]);
  await list(
    bitcoin('polymarket', 'P100', '100,000'),
    market({ platform: 'limitless', ref: 'other', title: 'Something' }),
  );
  expect(await step(matcher)).toEqual([0, 1, 1]);
  expect(await holding()).toEqual(['K100 identical P100', 'K110 subset P100']);
  expect(await step(matcher)).toEqual([0, 0, 0]);
});

test('a change of a text withdraws a verdict at once, and a later step makes it again', async () => {
  const matcher = matcherOf();
  await step(matcher);
  await list(bitcoin('polymarket', 'P100', '110,000'));
  expect(await holding()).toEqual([]);
  expect(await step(matcher)).toEqual([0, 1, 0]);
  expect(await holding()).toEqual(['K100 superset P100', 'K110 identical P100']);
  await list(market({ platform: 'polymarket', ref: 'P100', title: 'Something else' }));
  await step(matcher);
  expect((await verdicts()).every((row) => row.is_withdrawn)).toBe(true);
  await list(bitcoin('polymarket', 'P100', '100,000'));
  await step(matcher);
  expect(await holding()).toEqual(['K100 identical P100', 'K110 subset P100']);
});

test('trading changes no verdict, and has nothing read again', async () => {
  const matcher = matcherOf();
  await step(matcher);
  const record = bitcoin('kalshi', 'K100', '100,000');
  await list({ ...record, state: { ...record.state, volumeTotal: 5_000_000n } });
  expect(await step(matcher)).toEqual([0, 0, 0]);
});

test('a matcher that starts on a filled store knows the markets that others have read', async () => {
  await list(bitcoin('limitless', 'L100', '100,000'));
  expect(await step(matcherOf(), 'limitless')).toEqual([1]);
  expect(await holding()).toEqual([
    'K100 identical L100',
    'K100 identical P100',
    'K110 subset L100',
    'K110 subset P100',
    'P100 identical L100',
  ]);
});

test('two processes that read the two markets of a pair at once miss no pair', async () => {
  const [one, other] = [matcherOf(), matcherOf()];
  await Promise.all([step(one, 'kalshi'), step(other, 'polymarket')]);
  await list(bitcoin('kalshi', 'K120', '120,000'), bitcoin('polymarket', 'P120', '120,000'));
  await Promise.all([step(one, 'kalshi'), step(other, 'polymarket')]);
  expect(await holding()).toContain('K120 identical P120');
});

test('verdicts and facts leave the store a month after one of both markets was settled', async () => {
  const rows = async (): Promise<string[]> =>
    (
      await clickhouse.sql<{ n: string }>(
        `SELECT toString(count()) AS n FROM matches WHERE a_key IN (SELECT market_key FROM markets WHERE ref = 'OLD')
         UNION ALL SELECT toString(count()) FROM market_facts WHERE market_key IN (SELECT market_key FROM markets WHERE ref = 'OLD')`,
      )
    ).map(({ n }) => n);
  const old = bitcoin('kalshi', 'OLD', '130,000');
  await list(old, bitcoin('polymarket', 'PARTNER', '130,000'));
  await step(matcherOf());
  expect((await rows()).every((n) => Number(n) > 0)).toBe(true);
  await list({ ...old, state: { ...old.state, status: 'settled', resolvedAt: new Date(at).toISOString() } });
  expect(await forgetSettled(clickhouse, NO_COPY, at + 29 * 86_400_000, signal)).toBe(0);
  expect(await forgetSettled(clickhouse, NO_COPY, at + 31 * 86_400_000, signal)).toBe(1);
  expect(await rows()).toEqual(['0', '0']);
  expect(await forgetSettled(clickhouse, NO_COPY, at + 31 * 86_400_000, signal)).toBe(0);
});

test('a kill between facts and verdicts loses no verdict', async () => {
  const failing: ClickHouse = {
    ...clickhouse,
    insert: (table, ...rest) =>
      table === 'matches' ? Promise.reject(new Error('killed')) : clickhouse.insert(table, ...rest),
  };
  await list(bitcoin('polymarket', 'P110', '110,000'));
  await expect(step(matcherOf(failing), 'polymarket')).rejects.toThrow('killed');
  expect(await holding()).not.toContain('K110 identical P110');
  expect(await step(matcherOf(), 'polymarket')).toEqual([1]);
  expect(await holding()).toContain('K110 identical P110');
});

test('the store is looked at after a message, and a minute after the last look', async () => {
  let looks = 0;
  const counting: ClickHouse = {
    ...clickhouse,
    query: (name, ...rest) => {
      if (name === 'questions_to_read') looks += 1;
      return clickhouse.query(name, ...rest);
    },
  };
  const matcher = matcherOf(counting);
  const looked = async (): Promise<number> => {
    const before = looks;
    await matcher.run('kalshi', { signal, lease: LEASE });
    return looks - before;
  };
  expect([await looked(), await looked(), await looked()]).toEqual([1, 1, 0]);
  matcher.marketsStored('kalshi');
  expect([await looked(), await looked(), await looked()]).toEqual([1, 1, 0]);
  await clock.advance(60_000);
  expect([await looked(), await looked()]).toEqual([1, 0]);
});
