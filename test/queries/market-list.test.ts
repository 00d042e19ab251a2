import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { MarketRecord, MarketStatus, Platform } from '../../src/core/model.ts';
import { forgetFormer, refreshRanks } from '../../src/present/copy.ts';
import { createFreshness } from '../../src/queries/freshness.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { market as storable } from '../helpers/market-store.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { openPresent, type TestPresent } from '../helpers/present.ts';
import { silent } from '../helpers/silent-log.ts';
import { hurriedClock, listingClock } from '../helpers/virtual-clock.ts';

interface Page {
  markets: { platform_id: string; volume_24h: number; created_at: string }[];
  pagination: { total: number; next_cursor: string | null };
}

let clickhouse: ClickHouse;
let writer: { write(platform: Platform, records: MarketRecord[]): Promise<void> };
let present: TestPresent;
let service: TestApp;
let key: string;

beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
  present = await openPresent(clickhouse);
  const marketWriter = new MarketWriter(clickhouse, hurriedClock, { present: present.present });
  writer = {
    async write(platform, records) {
      await marketWriter.write(platform, records);
      await present.present.settled();
    },
  };
  service = await startTestApp({
    clickhouse,
    postgres: present.postgres,
    present: present.present,
    clock: listingClock,
  });
  ({ key } = await service.newKey('pro'));
});

afterAll(async () => {
  await service.close();
  await present.close();
  await clickhouse.close();
});

const market = (
  ref: string,
  volume: number | null,
  status: MarketStatus = 'open',
  title = `Market ${ref}`,
): MarketRecord =>
  storable({
    platform: 'kalshi',
    ref,
    title,
    eventId: 'E',
    state: { status, volume24h: volume === null ? null : BigInt(volume) * 1_000_000n },
  });

async function page(query: string, cursor: string | null): Promise<Page> {
  const path = `/v1/api/markets?provider=kalshi&${query}${cursor ? `&cursor=${cursor}` : ''}`;
  const reply = await service.app.inject({ url: path, headers: { 'x-api-key': key } });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

test('pages of a listing neither repeat nor miss a market while volumes move, markets settle and new ones appear', async () => {
  const refs = Array.from({ length: 60 }, (_, i) => `KXMOVE-${String(i).padStart(2, '0')}`);
  await writer.write(
    'kalshi',
    refs.map((ref, i) => market(ref, i % 7 === 0 ? null : 1000 + i)),
  );
  const expected = refs.length;
  const seen: string[] = [];
  let cursor: string | null = null;
  let turn = 0;
  do {
    const got: Page = await page('status=open&limit=7&event_id=E', cursor);
    expect(got.pagination.total).toBe(expected);
    seen.push(...got.markets.map((m) => m.platform_id));
    cursor = got.pagination.next_cursor;
    turn += 1;
    // The order turns round, a few settle, and a few are born, all between two pages.
    await writer.write(
      'kalshi',
      refs.map((ref, i) => market(ref, 5000 - i * turn, i % 11 === turn % 11 ? 'settled' : 'open')),
    );
    await writer.write('kalshi', [market(`KXNEW-${turn}`, 10_000)]);
  } while (cursor !== null);
  expect(seen.toSorted()).toEqual(refs);
  expect(new Set(seen).size).toBe(seen.length);
});

test('later pages of a list whose former order is no longer kept are those of its first page too', async () => {
  const refs = ['KXFORMER-1', 'KXFORMER-2', 'KXFORMER-3', 'KXFORMER-4'];
  const write = (volumes: number[]) =>
    writer.write(
      'kalshi',
      refs.map((ref, i) => {
        const { info, ...rest } = market(ref, volumes[i] ?? 0);
        return { info: { ...info, eventId: 'FORMER' }, ...rest };
      }),
    );
  await write([40, 30, 20, 10]);
  const first = await page('event_id=FORMER&limit=1', null);
  const asked = vi.spyOn(clickhouse, 'query');
  const next = await page('event_id=FORMER&limit=1', first.pagination.next_cursor);
  expect(asked.mock.calls.map(([name]) => name)).not.toContain('markets_list');
  await write([10, 20, 30, 40]);
  await present.postgres.db.execute(
    sql`UPDATE present_ranks_were SET replaced_at = replaced_at - interval '11 minutes'`,
  );
  await forgetFormer(present, 'kalshi');
  const rest = await page('event_id=FORMER&limit=5', next.pagination.next_cursor);
  expect(asked.mock.calls.map(([name]) => name)).toContain('markets_list');
  asked.mockRestore();
  expect([first, next, rest].flatMap(({ markets }) => markets.map((m) => m.platform_id))).toEqual(refs);
  expect([first, next, rest].map(({ pagination }) => pagination.total)).toEqual([4, 4, 4]);
});

const over = (ref: string, volume: number, status: MarketStatus): MarketRecord => {
  const { info, ...rest } = market(ref, volume, status);
  return { info: { ...info, eventId: 'OVER' }, ...rest };
};

const refsOf = ({ markets }: Page): string[] => markets.map((m) => m.platform_id);

test('a market that is over leaves its place once it has been over for a day, also if nothing is read', async () => {
  await writer.write('kalshi', [
    over('KXOVER-1', 9, 'settled'),
    over('KXOVER-2', 5, 'open'),
    over('KXOVER-3', 3, 'open'),
  ]);
  const before = await page('event_id=OVER&limit=1', null);
  expect(refsOf(before)).toEqual(['KXOVER-1']);
  await present.postgres.db.execute(
    sql`UPDATE present_ranks SET stale_at = now() - interval '1 second' WHERE event_id = 'OVER' AND stale_at IS NOT NULL`,
  );
  expect(refsOf(await page('event_id=OVER&limit=8', null))).toEqual(['KXOVER-2', 'KXOVER-3', 'KXOVER-1']);
  await refreshRanks(present, 'kalshi', Date.now());
  expect(refsOf(await page('event_id=OVER&limit=9', null))).toEqual(['KXOVER-2', 'KXOVER-3', 'KXOVER-1']);
  expect(refsOf(await page('event_id=OVER&limit=1', before.pagination.next_cursor))).toEqual(['KXOVER-2']);
});

test('a listing is in the order asked for, unknown volumes last, and pages join without a seam', async () => {
  const whole = await page('limit=500&event_id=E', null);
  const volumes = whole.markets.map((m) => m.volume_24h ?? -1);
  expect(volumes).toEqual(volumes.toSorted((a, b) => b - a));
  const joined: string[] = [];
  let cursor: string | null = null;
  do {
    const got: Page = await page('limit=9&event_id=E', cursor);
    joined.push(...got.markets.map((m) => m.platform_id));
    cursor = got.pagination.next_cursor;
  } while (cursor !== null);
  expect(joined).toEqual(whole.markets.map((m) => m.platform_id));
});

/** Market KXLARGE-<i>, all of whose amounts are this one. */
function large(amount: bigint | null, i: number): MarketRecord {
  const { info, state, ...rest } = market(`KXLARGE-${i}`, amount === null ? null : Number(amount));
  const usd = amount === null ? null : amount * 1_000_000n + 1n;
  return {
    info: { ...info, eventId: 'LARGE' },
    state: { ...state, volumeTotal: usd, liquidity: usd ?? 0n },
    ...rest,
  };
}

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

/** A market of event LONG, i-th by volume. */
function seenDaysAgo(ref: string, i: number, days: number): MarketRecord {
  const record = market(ref, 900 - i);
  return { ...record, info: { ...record.info, eventId: 'LONG' }, fetchedAt: daysAgo(days) };
}

test('amounts as large as a platform has them are listed in order, page by page', async () => {
  const amounts = [3_600_000_000n, 9_300_000n, 9_200_000n, 41n, null];
  await writer.write('kalshi', amounts.map(large).toReversed());
  for (const sort of ['volume_24h', 'volume_total', 'liquidity']) {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const got: Page = await page(`event_id=LARGE&limit=2&sort=${sort}`, cursor);
      seen.push(...got.markets.map((m) => m.platform_id));
      cursor = got.pagination.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(amounts.map((_, i) => `KXLARGE-${i}`));
  }
});

test('markets whose volume of the last day is unknown are listed by their volume in all, on later pages too', async () => {
  const totals = [80_000_000, 5_000_000, 41_000, 300, null];
  const listed = (shift: number): MarketRecord[] =>
    totals.map((total, i) => {
      const { info, state, ...rest } = market(`KXTOTAL-${i}`, null);
      const volumeTotal = total === null ? null : BigInt(total + shift) * 1_000_000n;
      return { info: { ...info, eventId: 'TOTAL' }, state: { ...state, volumeTotal }, ...rest };
    });
  await writer.write('kalshi', listed(0).toReversed());
  const refs = totals.map((_, i) => `KXTOTAL-${i}`);
  const first = await page('event_id=TOTAL&limit=2', null);
  expect(refsOf(first)).toEqual(refs.slice(0, 2));
  expect(refsOf(await page('event_id=TOTAL&order=asc', null))).toEqual(refs.toReversed());
  // Once former rows are gone, the rest of the list comes from ClickHouse.
  await writer.write('kalshi', listed(20));
  await present.postgres.db.execute(
    sql`UPDATE present_ranks_were SET replaced_at = replaced_at - interval '11 minutes'`,
  );
  await forgetFormer(present, 'kalshi');
  const asked = vi.spyOn(clickhouse, 'query');
  const rest = await page('event_id=TOTAL&limit=5', first.pagination.next_cursor);
  expect(asked.mock.calls.map(([name]) => name)).toContain('markets_list');
  asked.mockRestore();
  expect(refsOf(rest)).toEqual(refs.slice(2));
});

test('markets that were not read for days stay in a listing while they are swept again', async () => {
  const refs = ['KXLONG-1', 'KXLONG-2', 'KXLONG-3', 'KXLONG-4'];
  await writer.write(
    'kalshi',
    refs.map((ref, i) => seenDaysAgo(ref, i, 3)),
  );
  const first = await page('event_id=LONG&limit=2', null);
  await writer.write(
    'kalshi',
    refs.map((ref, i) => seenDaysAgo(ref, i, 0)),
  );
  const second = await page('event_id=LONG&limit=2', first.pagination.next_cursor);
  expect([...first.markets, ...second.markets].map((m) => m.platform_id)).toEqual(refs);
  expect([first.pagination.total, second.pagination.total]).toEqual([4, 4]);
});

test('a market whose platform does not report its creation time counts as made when it was first seen', async () => {
  const [started, older, seen, newer] = [9, 5, 3, 1].map(daysAgo) as [string, string, string, string];
  const born = (ref: string, createdAt: string | null, fetchedAt: string): MarketRecord => {
    const { info, ...rest } = market(ref, 1);
    return { ...rest, info: { ...info, eventId: 'BORN', createdAt, tradingStartAt: started }, fetchedAt };
  };
  await writer.write('kalshi', [
    born('KXBORN-1', older, seen),
    born('KXBORN-2', null, seen),
    born('KXBORN-3', newer, newer),
  ]);
  await writer.write('kalshi', [born('KXBORN-2', null, daysAgo(0))]);
  const { markets } = await page('event_id=BORN&sort=created', null);
  expect(markets.map((m) => [m.platform_id, m.created_at])).toEqual([
    ['KXBORN-3', newer],
    ['KXBORN-2', seen],
    ['KXBORN-1', older],
  ]);
});

const ids = async (words: string): Promise<string[]> =>
  (await page(`query=${encodeURIComponent(words)}`, null)).markets.map((m) => m.platform_id);

test('words are found in titles whatever their case and order, and all of them are needed', async () => {
  await writer.write('kalshi', [
    market('KXSEARCH-1', 1, 'open', 'Will ORSOLA win the Zürich regatta?'),
    market('KXSEARCH-2', 2, 'open', 'Regatta in Genoa: wind above 20 kn?'),
  ]);
  expect(await ids('regatta')).toEqual(['KXSEARCH-2', 'KXSEARCH-1']);
  expect(await ids('REGATTA orsola')).toEqual(['KXSEARCH-1']);
  expect(await ids('zürich')).toEqual(['KXSEARCH-1']);
  expect(await ids('regatta nowhere')).toEqual([]);
  expect(await ids("regatta') OR 1=1 --")).toEqual([]);
});

test('every word of a search counts, however many fit into it', async () => {
  // Letters of several scripts: as many words of one character as a search can hold.
  const letters = Array.from({ length: 100 }, (_, i) => String.fromCodePoint(0x4e00 + i));
  await writer.write('kalshi', [
    market('KXWORDS-1', 1, 'open', letters.join(' ')),
    market('KXWORDS-2', 2, 'open', letters.slice(0, 99).join(' ')),
  ]);
  expect(await ids(letters.join(' '))).toEqual(['KXWORDS-1']);
  expect(await ids(letters.slice(0, 99).join(' '))).toEqual(['KXWORDS-2', 'KXWORDS-1']);
});

test('a listing is complete up to the start of its last whole pass, whatever partial passes followed', async () => {
  const passes = [
    { job: 'markets', ok: true, fresh_to: daysAgo(2) },
    { job: 'markets', ok: false, fresh_to: daysAgo(1) },
    { job: 'changed', ok: true, fresh_to: daysAgo(0) },
  ];
  const runs = passes.map((pass) => ({
    platform: 'kalshi',
    started_at: pass.fresh_to,
    finished_at: daysAgo(0),
    ...pass,
  }));
  await clickhouse.insert('ingestion_runs', runs);
  const freshness = createFreshness(clickhouse, createLocalShared(silent, systemClock), systemClock);
  expect(await freshness.listings(['kalshi'])).toBe(passes[0]?.fresh_to);
});
