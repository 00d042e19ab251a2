import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text as streamText } from 'node:stream/consumers';
import type { ClickHouseSettings } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { silent } from '../helpers/silent-log.ts';
import { ACCOUNT, basic, EXPIRED_KEY, LOST_KEY, SPARE, SqlPortUnderTest } from '../helpers/sql-port.ts';

const VIEWS = [
  'v_book_changes',
  'v_book_gaps',
  'v_books',
  'v_candles',
  'v_categories',
  'v_depth',
  'v_events',
  'v_ingestion',
  'v_market_stats',
  'v_markets',
  'v_matches',
  'v_quotes',
  'v_series',
  'v_trades',
  'v_volume',
  'v_wallets',
  'v_whales',
];

let port: SqlPortUnderTest;

beforeAll(async () => {
  port = await SqlPortUnderTest.start();
});

afterAll(async () => {
  await port.close();
});

const text = async (sql: string) => (await port.ask(sql, { limit: '1000000' })).text();

/** Rows that a query would read, by table. */
const rowsRead = async (where: string) => {
  const lines = (await text(`EXPLAIN ESTIMATE SELECT * FROM ${where} FORMAT JSONCompactEachRow`)).trim().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as string[]);
  return Object.fromEntries(rows.map((row) => [row[1], Number(row[3])]));
};

/** Tables that the plan of a query reads, one for each read, by name. */
const tablesPlanned = async (where: string): Promise<(string | undefined)[]> =>
  [...(await text(`EXPLAIN SELECT * FROM ${where}`)).matchAll(/ReadFromMergeTree \(\w+\.(\w+)\)/g)]
    .map(([, table]) => table)
    .toSorted();

const asWhom = async (headers: Record<string, string>) =>
  (await fetch(`${port.origin}/?query=SELECT+1`, { headers })).status;

describe('the unmodified client', () => {
  it('reads rows with parameters, settings and compression', async () => {
    const client = port.client({ compression: { response: true } });
    const result = await client.query({
      query: 'SELECT title, price, spread FROM v_markets WHERE id = {id:String}',
      query_params: { id: 'kalshi:M3' },
      clickhouse_settings: { output_format_json_quote_decimals: 1 },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ title: 'Will M3 happen?', price: '0.57', spread: '0.02' }]);
    await client.close();
  });

  it.each(['JSON', 'JSONEachRow', 'JSONCompact', 'JSONCompactEachRow'] as const)(
    'finds a market again by its key in %s: integers of 64 bits and more are text',
    async (format) => {
      const client = port.client();
      const keys =
        "SELECT market_key, toInt128('-170141183460469231731687303715884105') AS large, 7 AS small FROM v_markets ";
      const ask = async (query: string, settings: ClickHouseSettings = {}) =>
        (await client.query({ query, format, clickhouse_settings: settings })).text();
      const text = await ask(`${keys} WHERE id = 'kalshi:M3'`);
      expect(text).toMatch(/"-170141183460469231731687303715884105"/);
      expect(text).not.toMatch(/"7"/);
      const key = /"(\d{15,20})"/.exec(text)?.[1];
      expect(await ask(`SELECT id FROM v_markets WHERE market_key = ${key}`)).toContain('kalshi:M3');
      const bare = new RegExp(`[^"]${key}[^"]`);
      expect(await ask(keys, { output_format_json_quote_64bit_integers: 0 })).toMatch(bare);
      expect(await ask(`${keys} SETTINGS output_format_json_quote_64bit_integers = 0`)).toMatch(bare);
      await client.close();
    },
  );

  it('streams a large result whole', async () => {
    const client = port.client();
    const result = await client.query({ query: 'SELECT number FROM numbers(900000)', format: 'JSONEachRow' });
    let rows = 0;
    for await (const part of result.stream()) rows += part.length;
    expect(rows).toBe(900_000);
    await client.close();
  });

  it('gets errors with their code and type', async () => {
    const client = port.client();
    await expect(client.query({ query: 'SELECT nothing FROM v_trades' })).rejects.toMatchObject({
      code: '47',
      type: 'UNKNOWN_IDENTIFIER',
    });
    await expect(client.query({ query: 'SELECT * FROM v_none' })).rejects.toMatchObject({ code: '60' });
    await expect(client.insert({ table: 'v_trades', values: [{ size: 1 }] })).rejects.toMatchObject({ code: '164' });
    expect((await client.ping({ select: true })).success).toBe(true);
    await client.close();
  });

  it('reads exactly what the service stored', async () => {
    const client = port.client();
    const query = 'SELECT toString(count()) AS n, toString(sum(size)) AS size, toString(sum(notional)) AS usd FROM ';
    const result = await client.query({ query: `${query} v_trades`, format: 'JSONEachRow' });
    expect(await result.json()).toEqual(await port.store.sql(`${query} trades`));
    await client.close();
  });
});

describe('curl', () => {
  it('may GET, name a FORMAT or a default one, and pack the answer', async () => {
    const search = String(new URLSearchParams({ query: 'SELECT 1 AS a, 2 AS b FORMAT CSVWithNames' }));
    const got = await fetch(`${port.origin}/?${search}`, {
      headers: { authorization: basic(ACCOUNT.user, ACCOUNT.password) },
    });
    expect(got.headers.get('content-type')).toContain('text/csv');
    expect(await got.text()).toBe('"a","b"\n1,2\n');
    const vertical = await port.ask('SELECT 1 AS a', { default_format: 'Vertical' });
    expect(await vertical.text()).toContain('a: 1');
    const asJson = await port.ask('SELECT 1 AS a', {}, { headers: { 'x-clickhouse-format': 'JSONCompactEachRow' } });
    expect(await asJson.text()).toBe('[1]\n');
    const packed = await port.ask('SELECT number FROM numbers(1000)', { enable_http_compression: '1' });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect((await packed.text()).split('\n').length).toBe(1001);
  });

  it('gets 400 for an address or a form that cannot be read', async () => {
    const { hostname, port: number } = new URL(port.origin);
    const request = httpRequest({ hostname, port: number, path: '//?query=SELECT+1' }).end();
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    expect([reply.statusCode, await streamText(reply)]).toEqual([400, expect.stringContaining('Invalid request URL')]);
    const form = await port.ask('x', {}, { headers: { 'content-type': 'multipart/form-data; boundary=b' } });
    expect([form.status, await form.text()]).toEqual([400, expect.stringContaining('multipart/form-data')]);
  });

  it('learns where its own statement breaks, and of no other', async () => {
    const reply = await port.ask('SELECT count() FORM v_trades WHERE');
    const said = await reply.text();
    expect([reply.status, said]).toEqual([
      400,
      expect.stringMatching(/^Code: 62\. .*failed at position .*\(SYNTAX_ERROR\)\n$/s),
    ]);
    expect(said).not.toMatch(/formatQuery|system\.tables/);
  });

  it('may say its settings in the statement, within the limits', async () => {
    const asked = "SELECT number FROM numbers(10) SETTINGS limit = 2, log_comment = 'a, b = c' FORMAT TSV";
    expect(await (await port.ask(asked)).text()).toBe('0\n1\n');
  });
});

describe('Grafana', () => {
  it("opens with clickhouse-go's hello, and reads Native in the revision that it names", async () => {
    const search = { default_format: 'Native', client_protocol_version: '54483', database: 'default' };
    const reply = await port.ask('SELECT displayName(), version(), revision(), timezone()', search);
    const bytes = Buffer.from(await reply.arrayBuffer());
    // Block info: field 1 (overflows) = 0, field 2 (bucket) = -1, field 3 (late buckets) = none, end; then 4 columns, 1 row.
    const info = [1, 0, 2, 255, 255, 255, 255, 3, 0, 0];
    expect([...bytes.subarray(0, 12)]).toEqual([...info, 4, 1]);
    expect(bytes.toString('latin1')).toContain('displayName()\x06String\0\x0aforecastle');
    const block = Buffer.from(await (await port.ask("SELECT 'x' AS a", search)).arrayBuffer());
    expect(block.subarray(info.length)).toEqual(Buffer.from('\x01\x01\x01a\x06String\0\x01x', 'latin1'));
  });

  it('finds databases, tables and columns in every way it looks for them', async () => {
    expect(await text('SHOW DATABASES')).toBe('forecastle\n');
    expect(await text('SHOW TABLES FROM "forecastle"')).toBe(`${VIEWS.join('\n')}\n`);
    expect(await text("SHOW TABLES LIKE 'v_m%'")).toBe('v_market_stats\nv_markets\nv_matches\n');
    expect(await text('SELECT database, name FROM system.tables ORDER BY database, name')).toBe(
      VIEWS.map((view) => `forecastle\t${view}\n`).join(''),
    );
    expect(await text('DESCRIBE TABLE "forecastle"."v_whales"')).toContain('price × size, USD, 250 or more');
    expect(await text('SELECT DISTINCT platform FROM forecastle.v_trades SETTINGS max_execution_time=10')).toBe(
      'kalshi\n',
    );
  });
});

describe('the views', () => {
  it('explain every column and themselves', async () => {
    const silent = await port.ask(
      "SELECT table, name FROM system.columns WHERE comment = '' UNION ALL SELECT name, '' FROM system.tables WHERE comment = ''",
    );
    expect(await silent.text()).toBe('');
  });

  it('all have rows of a store that has some', async () => {
    for (const view of VIEWS)
      expect(await (await port.ask(`SELECT count() > 0 FROM ${view}`)).text(), view).toBe('1\n');
  });

  it('plan reads of the bars alone that a query asks for, and read nothing of other markets', async () => {
    expect(await tablesPlanned("v_candles WHERE interval = '1h'")).toEqual(['candles_1h']);
    expect(await tablesPlanned("v_candles WHERE interval = '15m'")).toEqual(['candles_1m']);
    expect(await tablesPlanned("v_candles WHERE interval IN ('1m', '1d')")).toEqual(['candles_1h', 'candles_1m']);
    expect(await rowsRead('v_trades WHERE market_key = 1')).toEqual({ trades: 0 });
  });
});

describe('a table of the service', () => {
  it('cannot be read from the moment it is created', async () => {
    const read = () => port.ask('SELECT * FROM created_later', { wait_end_of_query: '1' });
    expect((await read()).headers.get('x-clickhouse-exception-code')).toBe('60');
    await port.store.command('CREATE TABLE created_later (secret UInt8) ENGINE = MergeTree ORDER BY secret');
    const refused = await read();
    expect(refused.headers.get('x-clickhouse-exception-code')).toBe('497');
    expect(await refused.text()).toMatch(/Not enough privileges.*SHOW TABLES lists the views/);
    await port.store.command('DROP TABLE created_later');
  });
});

describe('who may read', () => {
  it('is the account, or a holder of an API key in any place a client may put it', async () => {
    port.keys.add('pk_known');
    expect(await asWhom({ authorization: basic('whoever', 'pk_known') })).toBe(200);
    expect(await asWhom({ 'x-clickhouse-user': 'whoever', 'x-clickhouse-key': 'pk_known' })).toBe(200);
    expect(await asWhom({ authorization: 'Bearer pk_known' })).toBe(200);
    expect(await asWhom({ authorization: basic(ACCOUNT.user, ACCOUNT.password) })).toBe(200);
  });

  it('is nobody else, and nobody with a revoked key', async () => {
    expect(await asWhom({})).toBe(401);
    expect(await asWhom({ authorization: basic(ACCOUNT.user, 'wrong') })).toBe(403);
    expect(await asWhom({ authorization: basic('default', '') })).toBe(403);
    expect(await asWhom({ authorization: 'Bearer pk_unknown' })).toBe(403);
    port.keys.delete('pk_known');
    expect(await asWhom({ authorization: 'Bearer pk_known' })).toBe(403);
  });

  it('is unknown while keys cannot be looked up: 503, and a line in the log', async () => {
    const warned = vi.spyOn(silent, 'warn');
    const reply = await fetch(`${port.origin}/?query=SELECT+1`, { headers: { authorization: `Bearer ${LOST_KEY}` } });
    expect([reply.status, reply.headers.get('x-clickhouse-exception-code')]).toEqual([503, '279']);
    expect(await asWhom({ authorization: `Bearer ${EXPIRED_KEY}` })).toBe(403);
    const failure = [{ err: new Error('PostgreSQL is away') }, 'Failed to look up the API key of an SQL client'];
    expect(warned.mock.calls).toEqual([failure]);
    warned.mockRestore();
  });
});

describe('a password', () => {
  it('can be guessed ten times a minute: then even the right one waits, and nobody else', async () => {
    port.keys.add('pk_guest');
    const right = { authorization: basic(SPARE.user, SPARE.password) };
    for (let i = 0; i < 9; i += 1) expect(await asWhom({ authorization: basic(SPARE.user, `guess ${i}`) })).toBe(403);
    expect(await asWhom(right)).toBe(200);
    expect(await asWhom({ authorization: basic(SPARE.user, 'one more') })).toBe(403);
    const locked = await fetch(`${port.origin}/?query=SELECT+1`, { headers: right });
    expect([locked.status, await locked.text()]).toEqual([403, expect.stringContaining('wait a minute')]);
    expect(await asWhom({ authorization: basic(ACCOUNT.user, ACCOUNT.password) })).toBe(200);
    expect(await asWhom({ authorization: basic(SPARE.user, 'pk_guest') })).toBe(200);
  });
});

const answered = async () => (await port.ask('SELECT 7')).text();

describe('while the engine is away', () => {
  it('the port says so, and answers again once it is replaced', async () => {
    const before = port.engine.pid();
    process.kill(Number(before), 'SIGKILL');
    const away = await port.ask('SELECT 7');
    expect([away.status, await away.text()]).toEqual([503, expect.stringContaining('retry in a few seconds')]);
    await expect.poll(answered).toBe('7\n');
    expect(port.engine.pid()).not.toBe(before);
  });
});
