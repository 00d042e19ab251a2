import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { StoreUnderTest } from '../helpers/clickhouse.ts';

let test: StoreUnderTest;

beforeAll(async () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  test = await StoreUnderTest.start(512, { ...systemClock, every: (ms, task) => systemClock.every(ms / 30, task) });
  vi.unstubAllEnvs();
});
afterAll(() => test.close());

async function running(): Promise<number | undefined> {
  const marked = "position(query, concat('MAR', 'KED')) > 0";
  const [row] = await test.rows<{ n: number }>(`SELECT count() AS n FROM system.processes WHERE ${marked}`);
  return row?.n;
}

const stopped = (): Promise<void> => expect.poll(running, { timeout: 30_000 }).toBe(0);

const blockSize = async () =>
  (await test.rows<{ size: string }>("SELECT toString(getSetting('max_block_size')) AS size"))[0]?.size;

describe('who may ask', () => {
  it('answers pings of both kinds', async () => {
    expect(await test.client.ping()).toEqual({ success: true });
    expect(await test.client.ping({ select: true })).toEqual({ success: true });
  });

  it('refuses a wrong password and none with 516, and takes the key in a header', async () => {
    const stranger = test.open({ url: test.store.url.replace(/:[^:@]+@/, ':guess@') });
    await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '516' });
    await stranger.close();
    const { origin, username, password } = new URL(test.store.url);
    const ask = (headers: Record<string, string>) => fetch(`${origin}/?query=SELECT+1`, { headers });
    expect((await ask({})).status).toBe(403);
    expect((await ask({ 'X-ClickHouse-User': username, 'X-ClickHouse-Key': 'guess' })).status).toBe(403);
    expect(await (await ask({ 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password })).text()).toBe('1\n');
  });
});

it('reads times without a zone as UTC, whatever the zone of the machine', async () => {
  const [row] = await test.rows("SELECT timezone() AS zone, toUnixTimestamp('2026-01-01 00:00:00') AS time");
  expect(row).toEqual({ zone: 'UTC', time: Date.UTC(2026, 0, 1) / 1000 });
});

it('loads a dictionary again after its lifetime, as a server does', async () => {
  for (const query of [
    'CREATE TABLE named (id UInt64, name String) ENGINE = MergeTree ORDER BY id',
    `CREATE DICTIONARY names (id UInt64, name String) PRIMARY KEY id SOURCE(CLICKHOUSE(TABLE 'named'))
     LAYOUT(HASHED()) LIFETIME(MIN 1 MAX 1)`,
  ])
    await test.client.command({ query });
  const names = "SELECT dictGet('names', 'name', toUInt64(1)) AS name";
  expect(await test.rows(names)).toEqual([{ name: '' }]);
  await test.client.command({ query: "INSERT INTO named VALUES (1, 'one')" });
  await expect.poll(() => test.rows(names), { timeout: 30_000 }).toEqual([{ name: 'one' }]);
});

describe('parameters', () => {
  it('arrive exactly as they were given', async () => {
    const nasty = 'a\'b\\c\td\ne"f`g\u0000h{i:String}; DROP--日本';
    const [row] = await test.rows(
      'SELECT {s:String} AS s, {n:UInt64} AS n, {t:DateTime64(3)} AS t, {a:Array(String)} AS a, {z:Nullable(Int32)} AS z, {b:Bool} AS b',
      {
        params: {
          s: nasty,
          n: '18446744073709551615',
          t: new Date(1_700_000_000_123),
          a: ["x'y", nasty],
          z: null,
          b: true,
        },
        settings: { output_format_json_quote_64bit_integers: 1 },
      },
    );
    expect(row).toEqual({
      s: nasty,
      n: '18446744073709551615',
      t: '2023-11-14 22:13:20.123',
      a: ["x'y", nasty],
      z: null,
      b: true,
    });
  });

  it('do not reach another query: a placeholder without a value is an error', async () => {
    for (let i = 0; i < 8; i += 1) await test.rows('SELECT {left:String} AS x', { params: { left: 'behind' } });
    await expect(test.rows('SELECT {left:String} AS x')).rejects.toMatchObject({ code: '456' });
  });

  it('larger than a URL travel as a form', async () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => `id-${i}`);
    const large = test.open({ use_multipart_params_auto: true });
    const result = await large.query({
      query: 'SELECT length({ids:Array(String)}) AS n',
      query_params: { ids },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ n: 10_000 }]);
    await large.close();
  });

  it('never mix between parallel queries', async () => {
    const wrong: unknown[] = [];
    await Promise.all(
      Array.from({ length: 12 }, async (_, lane) => {
        for (let i = 0; i < 25; i += 1) {
          const value = `${lane}/${i}`;
          const settings = { max_threads: lane + 1, wait_end_of_query: i % 2 };
          const [row] = await test.rows<{ v: string; t: string }>(
            "SELECT {v:String} AS v, toString(getSetting('max_threads')) AS t",
            { params: { v: value }, settings },
          );
          if (row?.v !== value || row.t !== String(lane + 1)) wrong.push([value, row]);
        }
      }),
    );
    expect(wrong).toEqual([]);
  });
});

describe('what one request leaves behind', () => {
  it('settings last for one request', async () => {
    const before = await blockSize();
    for (const wait of [0, 1]) {
      const settings = { max_block_size: '4321', wait_end_of_query: wait };
      await Promise.all(Array.from({ length: 8 }, () => test.rows('SELECT 1', { settings })));
      for (let i = 0; i < 8; i += 1) expect(await blockSize()).toBe(before);
      await expect(test.rows('SELECT nothing', { settings })).rejects.toThrow();
      for (let i = 0; i < 8; i += 1) expect(await blockSize()).toBe(before);
    }
  });

  it('SET has no effect on later requests', async () => {
    const before = await blockSize();
    await test.client.command({ query: 'SET max_block_size = 1234' });
    for (let i = 0; i < 8; i += 1) expect(await blockSize()).toBe(before);
  });

  it('an insert token holds for its own insert only', async () => {
    await test.client.command({
      query:
        'CREATE TABLE tokens (a UInt32) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
    });
    const insert = (a: number, token?: string) =>
      test.client.insert({
        table: 'tokens',
        values: [{ a }],
        format: 'JSONEachRow',
        clickhouse_settings: token ? { insert_deduplication_token: token } : {},
      });
    await insert(1, 'once');
    await insert(2, 'once');
    for (let a = 3; a < 9; a += 1) await insert(a);
    expect(await test.rows('SELECT groupArray(a) AS a FROM (SELECT a FROM tokens ORDER BY a)')).toEqual([
      { a: [1, 3, 4, 5, 6, 7, 8] },
    ]);
  });

  it('the rows of a failed query are never served to the next caller', async () => {
    const failing = 'SELECT throwIf(number = 300000) FROM numbers(1000000)';
    for (const failed of [0, 1])
      for (const next of [0, 1]) {
        await expect(test.rows(failing, { settings: { wait_end_of_query: failed } })).rejects.toThrow('throwIf');
        for (let i = 0; i < 3; i += 1)
          expect(await test.rows('SELECT 7 AS n', { settings: { wait_end_of_query: next } })).toEqual([{ n: 7 }]);
      }
  });

  it('failures and answers at the same time keep apart', async () => {
    await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const failing = 'SELECT throwIf(number = 300000) FROM numbers(1000000)';
        const settings = { wait_end_of_query: i % 4 < 2 ? 1 : 0 };
        if (i % 2 === 0) {
          // The official client does not read the code of an error that two chunks of a streamed answer share.
          const code = settings.wait_end_of_query === 1 ? { code: '395' } : {};
          await expect(test.rows(failing, { settings })).rejects.toMatchObject(code);
        } else expect(await test.rows('SELECT {i:UInt32} AS i', { params: { i }, settings })).toEqual([{ i }]);
      }),
    );
  });

  it('USE and temporary tables end with the request', async () => {
    await test.client.command({ query: 'USE system' });
    await test.client.command({ query: 'CREATE TEMPORARY TABLE passing (a Int32)' });
    for (let i = 0; i < 6; i += 1) {
      expect(await test.rows('SELECT currentDatabase() AS d')).toEqual([{ d: 'forecastle' }]);
      await expect(test.rows('SELECT * FROM passing')).rejects.toMatchObject({ code: '60' });
    }
  });
});

describe('a client that goes', () => {
  const heavy = 'SELECT max(sipHash64(number)) AS MARKED FROM numbers(100000000000)';

  it('takes its query with it', async () => {
    const leave = new AbortController();
    const asked = Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        expect(
          test.client.query({
            query: heavy,
            abort_signal: leave.signal,
            clickhouse_settings: { readonly: '2', wait_end_of_query: i % 2 ? 1 : 0 },
          }),
        ).rejects.toThrow('aborted'),
      ),
    );
    await expect.poll(running).toBe(4);
    leave.abort();
    await asked;
    await stopped();
    expect(await test.rows('SELECT 7 AS n')).toEqual([{ n: 7 }]);
  });

  it('in the middle of a result stops it', async () => {
    const result = await test.client.query({
      query: 'SELECT number AS MARKED FROM numbers(10000000000)',
      format: 'JSONEachRow',
      clickhouse_settings: { readonly: '2' },
    });
    for await (const chunk of result.stream()) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await stopped();
  });
});
