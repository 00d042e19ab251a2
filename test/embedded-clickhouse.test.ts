import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../src/embedded/clickhouse.ts';
import { silent } from './helpers/silent-log.ts';

// The unmodified official client and plain HTTP, as any client of a ClickHouse server would use it.
const dataDir = mkdtempSync(join(tmpdir(), 'forecastle-clickhouse-'));
let store: EmbeddedClickHouse;
let client: ClickHouseClient;

const open = (options: Parameters<typeof createClient>[0] = {}) =>
  createClient({ url: store.url, log: { level: ClickHouseLogLevel.OFF }, ...options });

beforeAll(async () => {
  store = await startEmbeddedClickHouse({ dataDir, memoryMb: 512, log: silent });
  client = open();
});

afterAll(async () => {
  await client.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});

async function rows<Row>(query: string, options: { params?: Record<string, unknown>; settings?: object } = {}) {
  const result = await client.query({
    query,
    format: 'JSONEachRow',
    query_params: options.params ?? {},
    clickhouse_settings: { ...options.settings },
  });
  return result.json<Row>();
}

/** The store's answer to plain HTTP. */
function post(search: Record<string, string>, body: string | Buffer, headers: Record<string, string> = {}) {
  const { username, password, origin } = new URL(store.url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return fetch(`${origin}/?${String(new URLSearchParams(search))}`, {
    method: 'POST',
    body,
    headers: { authorization, ...headers },
  });
}

async function running(): Promise<number | undefined> {
  const marked = "position(query, concat('MAR', 'KED')) > 0";
  const [row] = await rows<{ n: number }>(`SELECT count() AS n FROM system.processes WHERE ${marked}`);
  return row?.n;
}

const blockSize = async () =>
  (await rows<{ size: string }>("SELECT toString(getSetting('max_block_size')) AS size"))[0]?.size;

const answer = async (query: string, search: Record<string, string> = {}) => (await post(search, query)).text();

/** Number and sum of the rows inserted since the last look. */
async function stored(): Promise<[number, number]> {
  const [row] = await rows<{ n: number; sum: number }>('SELECT count() AS n, sum(a) AS sum FROM inserts');
  await client.command({ query: 'TRUNCATE TABLE inserts' });
  return [row?.n ?? -1, row?.sum ?? -1];
}

async function until(condition: () => Promise<boolean>, timeoutMs = 5000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await condition()); await sleep(20))
    if (Date.now() > deadline) throw new Error('the awaited condition did not come');
}

describe('who may ask', () => {
  it('answers pings of both kinds', async () => {
    expect(await client.ping()).toEqual({ success: true });
    expect(await client.ping({ select: true })).toEqual({ success: true });
  });

  it('refuses a wrong password with 516 and no password with 401, and takes the key in a header', async () => {
    const stranger = open({ url: store.url.replace(/:[^:@]+@/, ':guess@') });
    await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '516' });
    await stranger.close();
    const { origin, password } = new URL(store.url);
    const ask = (headers: Record<string, string>) => fetch(`${origin}/?query=SELECT+1`, { headers });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': 'guess' })).status).toBe(403);
    expect(await (await ask({ 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': password })).text()).toBe('1\n');
  });
});

describe('parameters', () => {
  it('arrive exactly as they were given', async () => {
    const nasty = 'a\'b\\c\td\ne"f`g\u0000h{i:String}; DROP--日本';
    const [row] = await rows(
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
    for (let i = 0; i < 8; i += 1) await rows('SELECT {left:String} AS x', { params: { left: 'behind' } });
    await expect(rows('SELECT {left:String} AS x')).rejects.toMatchObject({ code: '456' });
  });

  it('larger than a URL travel as a form', async () => {
    const ids = Array.from({ length: 50_000 }, (_, i) => `id-${i}`);
    const large = open({ use_multipart_params_auto: true });
    const result = await large.query({
      query: 'SELECT length({ids:Array(String)}) AS n',
      query_params: { ids },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ n: 50_000 }]);
    await large.close();
  });

  it('never mix between parallel queries', async () => {
    const wrong: unknown[] = [];
    await Promise.all(
      Array.from({ length: 12 }, async (_, lane) => {
        for (let i = 0; i < 25; i += 1) {
          const value = `${lane}/${i}`;
          const settings = { max_threads: lane + 1, wait_end_of_query: i % 2 };
          const [row] = await rows<{ v: string; t: string }>(
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
  it('settings last for one request, whether given beside the statement or by SET', async () => {
    const before = await blockSize();
    for (let i = 0; i < 6; i += 1) {
      await rows('SELECT 1', { settings: { max_block_size: '4321' } });
      await client.command({ query: 'SET max_block_size = 1234' });
    }
    for (let i = 0; i < 12; i += 1) expect(await blockSize()).toBe(before);
  });

  it('an insert token holds for its own insert only', async () => {
    await client.command({
      query:
        'CREATE TABLE tokens (a UInt32) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
    });
    const insert = (a: number, token?: string) =>
      client.insert({
        table: 'tokens',
        values: [{ a }],
        format: 'JSONEachRow',
        clickhouse_settings: token ? { insert_deduplication_token: token } : {},
      });
    await insert(1, 'once');
    await insert(2, 'once');
    for (let a = 3; a < 9; a += 1) await insert(a);
    expect(await rows('SELECT groupArray(a) AS a FROM (SELECT a FROM tokens ORDER BY a)')).toEqual([
      { a: [1, 3, 4, 5, 6, 7, 8] },
    ]);
  });

  it('the rows of a failed query are never served to the next caller', async () => {
    const settings = [{}, { wait_end_of_query: 1 }];
    await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const query = 'SELECT number, throwIf(number = 300000) FROM numbers(1000000)';
        if (i % 2 === 0)
          await expect(rows(query, { settings: settings[i % 4 === 0 ? 0 : 1] ?? {} })).rejects.toMatchObject({
            code: '395',
          });
        else expect(await rows('SELECT {i:UInt32} AS i', { params: { i } })).toEqual([{ i }]);
      }),
    );
    for (let i = 0; i < 8; i += 1) expect(await rows('SELECT {i:UInt32} AS i', { params: { i } })).toEqual([{ i }]);
  });

  it('USE and temporary tables end with the request', async () => {
    await client.command({ query: 'USE system' });
    await client.command({ query: 'CREATE TEMPORARY TABLE passing (a Int32)' });
    for (let i = 0; i < 6; i += 1) {
      expect(await rows('SELECT currentDatabase() AS d')).toEqual([{ d: 'forecastle' }]);
      await expect(rows('SELECT * FROM passing')).rejects.toMatchObject({ code: '60' });
    }
  });
});

describe('a client that goes', () => {
  const heavy = 'SELECT max(sipHash64(number)) AS MARKED FROM numbers(100000000000)';

  it('takes its query with it, and its connection serves others', async () => {
    const leave = new AbortController();
    const asked = Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        expect(
          client.query({
            query: heavy,
            abort_signal: leave.signal,
            clickhouse_settings: { wait_end_of_query: i % 2 ? 1 : 0 },
          }),
        ).rejects.toThrow('aborted'),
      ),
    );
    // All four connections are taken: nobody can look whether the queries run, so some time has to do.
    await sleep(500);
    leave.abort();
    await asked;
    await until(async () => (await running()) === 0);
    expect(await rows('SELECT 7 AS n')).toEqual([{ n: 7 }]);
  });

  it('in the middle of a result stops it', async () => {
    const result = await client.query({
      query: 'SELECT number AS MARKED FROM numbers(10000000000)',
      format: 'JSONEachRow',
    });
    for await (const chunk of result.stream()) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await until(async () => (await running()) === 0);
  });
});

describe('results', () => {
  it('are streamed: more rows than fit in the memory limit come through, the first at once', async () => {
    const startedAt = performance.now();
    const result = await client.exec({
      query: "SELECT number, repeat('x', 1000) AS s FROM numbers(400000) FORMAT JSONEachRow",
    });
    let bytes = 0;
    let firstMs = 0;
    for await (const chunk of result.stream as AsyncIterable<Buffer>) {
      firstMs ||= performance.now() - startedAt;
      bytes += chunk.length;
    }
    expect(bytes).toBeGreaterThan(400_000_000);
    expect(firstMs).toBeLessThan((performance.now() - startedAt) / 3);
  });

  it('with a line of names have it once, however many blocks they are made of', async () => {
    const query = 'SELECT number, toString(number) AS "a ""quoted""\nname" FROM numbers(200000)';
    for (const format of ['CSVWithNames', 'TabSeparatedWithNames']) {
      const [streamed, whole] = await Promise.all(
        ['0', '1'].map(async (wait) => (await post({ default_format: format, wait_end_of_query: wait }, query)).text()),
      );
      expect(streamed?.length).toBeGreaterThan(2_000_000);
      expect(streamed === whole).toBe(true);
    }
  });

  it('that fail on the way are broken off, and the official client names the error', async () => {
    const query = 'SELECT throwIf(number = 400000) AS x FROM numbers(1000000)';
    for (let i = 0; i < 5; i += 1) await expect(rows(query)).rejects.toMatchObject({ code: '395' });
    const response = await post({ default_format: 'JSONEachRow' }, query);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('come in the format the statement names, else the request', async () => {
    expect(await answer('SELECT 1 AS a, 2 AS b')).toBe('1\t2\n');
    expect(await answer('SELECT 1 AS a, 2 AS b', { default_format: 'CSVWithNames' })).toBe('"a","b"\n1,2\n');
    expect(await answer('SELECT 1 AS a, 2 AS b FORMAT JSONCompactEachRow', { default_format: 'CSV' })).toBe('[1, 2]\n');
    expect(
      await answer('SELECT number % 2 AS k, count() AS n FROM numbers(4) GROUP BY k WITH TOTALS ORDER BY k FORMAT CSV'),
    ).toBe('0,2\n1,2\n\n0,4\n');
    expect(JSON.parse(await answer('SELECT 1 AS a FORMAT JSON'))).toMatchObject({ data: [{ a: 1 }], rows: 1 });
  });

  it('are packed with gzip when asked for, streamed or whole', async () => {
    const packed = open({ compression: { response: true, request: true } });
    const result = await packed.query({ query: 'SELECT number FROM numbers(100000)', format: 'JSONEachRow' });
    expect(await result.json()).toHaveLength(100_000);
    await packed.close();
    const search = { enable_http_compression: '1', wait_end_of_query: '1' };
    const response = await post(search, 'SELECT number FROM numbers(1000)', { 'accept-encoding': 'gzip' });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect((await response.text()).split('\n')).toHaveLength(1001);
  });
});

describe('inserts', () => {
  beforeAll(async () => {
    await client.command({
      query: 'CREATE TABLE inserts (a UInt32, s String, at DateTime64(3) DEFAULT 0) ENGINE = MergeTree ORDER BY a',
    });
  });

  it('take arrays, streams of objects, bytes, and statements with values in them', async () => {
    await client.insert({ table: 'inserts', values: [{ a: 1, s: 'x' }], format: 'JSONEachRow', columns: ['a', 's'] });
    const objects = Readable.from(Array.from({ length: 1000 }, (_, a) => ({ a, s: 'y' })));
    await client.insert({ table: 'inserts', values: objects, format: 'JSONEachRow' });
    const bytes = await client.exec({
      query: 'INSERT INTO inserts (a, s) FORMAT CSV',
      values: Readable.from([Buffer.from('7,"z"\n8,"z;"\n')], { objectMode: false }),
    });
    expect(await text(bytes.stream)).toBe('');
    await client.command({ query: "INSERT INTO inserts (a, s) VALUES (9, 'a;b'), (10, 'c')" });
    await client.command({ query: 'INSERT INTO inserts (a, s) FORMAT JSONEachRow\n{"a": 11, "s": "it\'s; here"}' });
    await client.command({ query: "INSERT INTO inserts (a, s) SELECT number, '' FROM numbers(3)" });
    expect(await stored()).toEqual([1009, 1 + 499_500 + 15 + 19 + 11 + 3]);
  });

  it('may be packed, and tell how many rows were written', async () => {
    const lines = '{"a":1,"at":"2025-01-02T03:04:05.678Z"}\n'.repeat(5000);
    const search = { query: 'INSERT INTO inserts FORMAT JSONEachRow', date_time_input_format: 'best_effort' };
    const response = await post(search, gzipSync(lines), { 'content-encoding': 'gzip' });
    expect(response.status).toBe(200);
    expect(JSON.parse(response.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '5000' });
    expect(await rows("SELECT DISTINCT at = toDateTime64('2025-01-02 03:04:05.678', 3) AS same FROM inserts")).toEqual([
      { same: 1 },
    ]);
    expect(await stored()).toEqual([5000, 5000]);
  });

  it('with one wrong row change nothing', async () => {
    await expect(
      client.insert({ table: 'inserts', values: [{ a: 1 }, { a: 'one' }], format: 'JSONEachRow' }),
    ).rejects.toMatchObject({ code: '27' });
    expect(await stored()).toEqual([0, 0]);
  });

  it('larger than the limit are refused, however well they are packed', async () => {
    const large = gzipSync(Buffer.alloc(65 * 1_048_576, '{"a":1}\n'), { level: 1 });
    const refused = await post({ query: 'INSERT INTO inserts FORMAT JSONEachRow' }, large, {
      'content-encoding': 'gzip',
    });
    expect([refused.status, refused.headers.get('x-clickhouse-exception-code')]).toEqual([413, '307']);
    expect(await stored()).toEqual([0, 0]);
  });
});

describe('errors', () => {
  it("carry ClickHouse's code, name and status", async () => {
    const cases: [string, string, string, number][] = [
      ['SELECT * FROM nowhere', '60', 'UNKNOWN_TABLE', 404],
      ['SELECT FROM WHERE', '62', 'SYNTAX_ERROR', 400],
      ['SELECT 1; SELECT 2', '62', 'SYNTAX_ERROR', 400],
      ['SELECT nothing', '47', 'UNKNOWN_IDENTIFIER', 400],
      ['SELECT count() FROM numbers(100000000000) SETTINGS max_execution_time = 0.2', '159', 'TIMEOUT_EXCEEDED', 500],
    ];
    for (const [query, code, type, status] of cases) {
      await expect(rows(query), query).rejects.toMatchObject({ code, type });
      const response = await post({}, query);
      expect([response.status, response.headers.get('x-clickhouse-exception-code')], query).toEqual([status, code]);
      expect(await response.text()).toContain(`Code: ${code}. DB::Exception: `);
    }
    await expect(rows('SELECT 1', { settings: { no_such_setting: 1 } })).rejects.toMatchObject({ code: '115' });
    await expect(rows('SELECT 1', { settings: { max_threads: 'many' } })).rejects.toThrow();
    expect(await rows('SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
  });

  it('of memory stop the query, not the engine', async () => {
    const pid = store.pid();
    await expect(rows('SELECT groupArray(number) FROM numbers(300000000)')).rejects.toMatchObject({ code: '241' });
    expect(await rows('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(store.pid()).toBe(pid);
  });

  it('tell a client beyond the queue to come back, and every other is served', async () => {
    const many = Array.from({ length: 300 }, async () => {
      const response = await post({}, 'SELECT sleep(0.03)');
      return [response.status, response.headers.get('x-clickhouse-exception-code')].join(' ').trim();
    });
    const answers = await Promise.all(many);
    expect([...new Set(answers)].toSorted()).toEqual(['200', '503 202']);
    expect(answers.filter((status) => status === '200').length).toBeGreaterThanOrEqual(260);
  });
});

describe('reading only', () => {
  it('GET and readonly run what reads and refuse what writes', async () => {
    const { origin, username, password } = new URL(store.url);
    const get = (query: string) =>
      fetch(`${origin}/?${String(new URLSearchParams({ query, user: username, password }))}`);
    expect(await (await get('SELECT 5')).text()).toBe('5\n');
    expect((await get('CREATE TABLE never (a Int32) ENGINE = Memory')).headers.get('x-clickhouse-exception-code')).toBe(
      '164',
    );
    for (const query of ['INSERT INTO tokens VALUES (1)', 'DROP TABLE tokens', "SELECT 1 INTO OUTFILE '/tmp/never'"])
      await expect(rows(query, { settings: { readonly: '2' } }), query).rejects.toThrow();
    expect(await rows('SELECT 5 AS n', { settings: { readonly: '1' } })).toEqual([{ n: 5 }]);
    // The connections that were made read-only are not handed on.
    for (let i = 0; i < 6; i += 1)
      await client.command({ query: 'CREATE TABLE IF NOT EXISTS ever (a Int32) ENGINE = Memory' });
  });
});
