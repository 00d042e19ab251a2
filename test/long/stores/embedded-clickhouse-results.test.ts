import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreUnderTest } from '../../helpers/clickhouse.ts';

let test: StoreUnderTest;

beforeAll(async () => {
  test = await StoreUnderTest.start(300);
});
afterAll(() => test.close());

const answer = async (query: string, search: Record<string, string> = {}) => (await test.post(search, query)).text();

/** Number and sum of the rows inserted since the last look. */
async function stored(): Promise<[number, number]> {
  const [row] = await test.rows<{ n: number; sum: number }>('SELECT count() AS n, sum(a) AS sum FROM inserts');
  await test.client.command({ query: 'TRUNCATE TABLE inserts' });
  return [row?.n ?? -1, row?.sum ?? -1];
}

describe('results', () => {
  it('are streamed: more rows than fit in the memory limit come through, the first at once', async () => {
    const startedAt = performance.now();
    const result = await test.client.exec({
      query: "SELECT number, repeat('x', 1000) AS s FROM numbers(240000) FORMAT JSONEachRow",
    });
    let bytes = 0;
    let firstMs = 0;
    for await (const chunk of result.stream as AsyncIterable<Buffer>) {
      firstMs ||= performance.now() - startedAt;
      bytes += chunk.length;
    }
    expect(bytes).toBeGreaterThan(240_000_000);
    expect(firstMs).toBeLessThan((performance.now() - startedAt) / 3);
  });

  it('with a line of names have it once, however many blocks they are made of', async () => {
    const query = 'SELECT number, toString(number) AS "a ""quoted""\nname" FROM numbers(200000)';
    for (const format of ['CSVWithNames', 'TabSeparatedWithNames']) {
      const [streamed, whole] = await Promise.all(
        ['0', '1'].map(async (wait) =>
          (await test.post({ default_format: format, wait_end_of_query: wait }, query)).text(),
        ),
      );
      expect(streamed?.length).toBeGreaterThan(2_000_000);
      expect(streamed === whole).toBe(true);
    }
  });

  it('that fail on the way are broken off, and the official client names the error', async () => {
    const query = 'SELECT throwIf(number = 900000) AS x FROM numbers(1000000)';
    for (let i = 0; i < 5; i += 1) await expect(test.rows(query)).rejects.toMatchObject({ code: '395' });
    const response = await test.post({ default_format: 'JSONEachRow' }, query);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('come in the format the statement names, else the request', async () => {
    expect(await answer('SELECT 1 AS a, 2 AS b')).toBe('1\t2\n');
    expect(await answer('SELECT 1 AS a, 2 AS b', { default_format: 'CSVWithNames' })).toBe('"a","b"\n1,2\n');
    expect(await answer('SELECT 1 AS a, 2 AS b FORMAT JSONCompactEachRow', { default_format: 'CSV' })).toBe('[1, 2]\n');
    expect(await answer('SELECT format FROM (SELECT 1 AS format)')).toBe('1\n');
    expect(await answer('SELECT map(1, 2) AS m -- FORMAT CSV')).toBe('{1:2}\n');
    expect(
      await answer('SELECT number % 2 AS k, count() AS n FROM numbers(4) GROUP BY k WITH TOTALS ORDER BY k FORMAT CSV'),
    ).toBe('0,2\n1,2\n\n0,4\n');
    expect(JSON.parse(await answer('SELECT 1 AS a FORMAT JSON'))).toMatchObject({ data: [{ a: 1 }], rows: 1 });
  });

  it('are packed with gzip when asked for, streamed or whole', async () => {
    const packed = test.open({ compression: { response: true, request: true } });
    const result = await packed.query({ query: 'SELECT number FROM numbers(100000)', format: 'JSONEachRow' });
    expect(await result.json()).toHaveLength(100_000);
    await packed.close();
    const search = { enable_http_compression: '1', wait_end_of_query: '1' };
    const response = await test.post(search, 'SELECT number FROM numbers(1000)', { 'accept-encoding': 'gzip' });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect((await response.text()).split('\n')).toHaveLength(1001);
  });
});

describe('inserts', () => {
  beforeAll(async () => {
    await test.client.command({
      query: 'CREATE TABLE inserts (a UInt32, s String, at DateTime64(3) DEFAULT 0) ENGINE = MergeTree ORDER BY a',
    });
  });

  it('take arrays, streams of objects, bytes, and statements with values in them', async () => {
    await test.client.insert({
      table: 'inserts',
      values: [{ a: 1, s: 'x' }],
      format: 'JSONEachRow',
      columns: ['a', 's'],
    });
    const objects = Readable.from(Array.from({ length: 1000 }, (_, a) => ({ a, s: 'y' })));
    await test.client.insert({ table: 'inserts', values: objects, format: 'JSONEachRow' });
    const bytes = await test.client.exec({
      query: 'INSERT INTO inserts (a, s) FORMAT CSV',
      values: Readable.from([Buffer.from('7,"z"\n8,"z;"\n')], { objectMode: false }),
    });
    expect(await text(bytes.stream)).toBe('');
    await test.client.command({ query: "INSERT INTO inserts (a, s) VALUES (9, 'a;b'), (10, 'c')" });
    await test.client.command({
      query: 'INSERT INTO inserts (a, s) FORMAT JSONEachRow\n{"a": 11, "s": "it\'s; here"}',
    });
    await test.client.command({ query: "INSERT INTO inserts (a, s) SELECT number, '' FROM numbers(3)" });
    expect(await stored()).toEqual([1009, 1 + 499_500 + 15 + 19 + 11 + 3]);
  });

  it('may be compressed, and report how many rows were written', async () => {
    const lines = '{"a":1,"at":"2025-01-02T03:04:05.678Z"}\n'.repeat(5000);
    const search = { query: 'INSERT INTO inserts FORMAT JSONEachRow', date_time_input_format: 'best_effort' };
    const response = await test.post(search, gzipSync(lines), { 'content-encoding': 'gzip' });
    expect(response.status).toBe(200);
    expect(JSON.parse(response.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '5000' });
    expect(
      await test.rows("SELECT DISTINCT at = toDateTime64('2025-01-02 03:04:05.678', 3) AS same FROM inserts"),
    ).toEqual([{ same: 1 }]);
    expect(await stored()).toEqual([5000, 5000]);
  });

  it('with one wrong row change nothing', async () => {
    await expect(
      test.client.insert({ table: 'inserts', values: [{ a: 1 }, { a: 'one' }], format: 'JSONEachRow' }),
    ).rejects.toMatchObject({ code: '27' });
    expect(await stored()).toEqual([0, 0]);
  });
});

describe('errors', () => {
  it("carry ClickHouse's code, name and status", async () => {
    const cases: [string, string, string, number][] = [
      ['SELECT * FROM nowhere', '60', 'UNKNOWN_TABLE', 404],
      ['SELECT FROM WHERE', '62', 'SYNTAX_ERROR', 400],
      ['SELECT 1; SELECT 2', '62', 'SYNTAX_ERROR', 400],
      ['SELECT nothing', '47', 'UNKNOWN_IDENTIFIER', 404],
      ['SELECT count() FROM numbers(100000000000) SETTINGS max_execution_time = 0.2', '159', 'TIMEOUT_EXCEEDED', 408],
    ];
    for (const [query, code, type, status] of cases) {
      await expect(test.rows(query), query).rejects.toMatchObject({ code, type });
      const response = await test.post({}, query);
      expect([response.status, response.headers.get('x-clickhouse-exception-code')], query).toEqual([status, code]);
      expect(await response.text()).toContain(`Code: ${code}. DB::Exception: `);
    }
    await expect(test.rows('SELECT 1', { settings: { no_such_setting: 1 } })).rejects.toMatchObject({ code: '115' });
    await expect(test.rows('SELECT 1', { settings: { max_threads: 'many' } })).rejects.toThrow();
    expect(await test.rows('SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
  });

  it('of memory stop the query, not the engine', async () => {
    const pid = test.store.pid();
    await expect(test.rows('SELECT groupArray(number) FROM numbers(300000000)')).rejects.toMatchObject({ code: '241' });
    expect(await test.rows('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(test.store.pid()).toBe(pid);
  });
});

it('more clients at once than the engine has connections are served in their turns, in little memory', async () => {
  const pid = test.store.pid();
  const answers = await Promise.all(
    Array.from({ length: 150 }, async () => (await test.post({}, 'SELECT sleep(0.03)')).status),
  );
  expect([...new Set(answers)]).toEqual([200]);
  expect(test.store.pid()).toBe(pid);
});

describe('reading only', () => {
  it('GET and readonly run what reads and refuse what writes', async () => {
    const { origin, username, password } = new URL(test.store.url);
    const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password };
    const get = (query: string) => fetch(`${origin}/?${String(new URLSearchParams({ query }))}`, { headers });
    expect(await (await get('SELECT 5')).text()).toBe('5\n');
    expect((await get('CREATE TABLE never (a Int32) ENGINE = Memory')).headers.get('x-clickhouse-exception-code')).toBe(
      '164',
    );
    for (const query of [
      'INSERT INTO inserts (a) VALUES (1)',
      'DROP TABLE inserts',
      "SELECT 1 INTO OUTFILE '/tmp/never'",
    ])
      await expect(test.rows(query, { settings: { readonly: '2' } }), query).rejects.toThrow();
    expect(await test.rows('SELECT 5 AS n', { settings: { readonly: '1' } })).toEqual([{ n: 5 }]);
  });
});
