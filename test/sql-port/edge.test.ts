import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError, httpStatus } from '../../src/embedded/clickhouse/errors.ts';
import { RawConnection } from '../fuzz/raw-connection.ts';
import { SqlPortUnderTest } from '../helpers/sql-port.ts';

let port: SqlPortUnderTest;
/** The nice values of the engine's threads before the first query. */
let atStart: string[];
beforeAll(async () => {
  port = await SqlPortUnderTest.start();
  atStart = niceValues();
});
afterAll(() => port.close());

const asked = async (sql: string, search: Record<string, string> = {}, init: RequestInit = {}) => {
  const reply = await port.ask(sql, { wait_end_of_query: '1', ...search }, init);
  return {
    status: reply.status,
    code: Number(reply.headers.get('x-clickhouse-exception-code')),
    text: await reply.text(),
  };
};

describe('a wrong query', () => {
  it.each([
    ["SELECT 'a' + 1", 43],
    ['SELECT toDate(1, 2, 3, 4)', 42],
    ['SELECT nosuchfunction(1)', 46],
    ["SELECT CAST('a', 'NoType')", 50],
    ['SELECT toDecimal32(1e20, 2)', 407],
    ['SELECT intDiv(1, 0)', 153],
    ["SELECT toInt8('x')", 6],
    ['SELECT nosuchcolumn FROM v_trades', 47],
    ['SELECT sum(price), title FROM v_markets', 215],
    ['SELECT 1 SETTINGS max_memory_usage = 1', 164],
    ['SELEC 1', 62],
    ['SELECT number FROM numbers(2000000)', 396],
    ['SELECT groupArray(number) FROM numbers(1000000000)', 241],
  ])('%s is the caller’s fault: 400 with code %i', async (sql, code) => {
    expect(await asked(sql)).toMatchObject({ status: 400, code });
  });

  it('is distinguished from a fault of the server, which is 500 or more', () => {
    const total = '(total) memory limit exceeded: would use 1.00 GiB';
    expect(httpStatus(new EngineError(241, `Code: 241. DB::Exception: ${total}`))).toBe(500);
    for (const code of [49, 74, 159, 76, 107, 173, 209, 210, 243, 246, 425, 439, 1000, 1001, 1002])
      expect(httpStatus(new EngineError(code, '')), String(code)).toBe(500);
    expect(httpStatus(new EngineError(202, ''))).toBe(503);
  });
});

describe('what comes before a query', () => {
  it.each(['hasOwnProperty', 'constructor', '__proto__', 'toString', 'x-unknown'])(
    'as Content-Encoding: %s is refused, and harms no count',
    async (encoding) => {
      for (let i = 0; i < 2; i += 1)
        expect(await asked('SELECT 1', {}, { headers: { 'content-encoding': encoding } })).toMatchObject({
          status: 501,
          code: 48,
        });
      expect((await asked('SELECT 1')).text).toBe('1\n');
    },
  );

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('as setting %s is refused', async (name) => {
    expect((await asked('SELECT 1', { [name]: '1' })).status).toBe(400);
  });

  it('is at most 16 KB of headers', async () => {
    const connection = new RawConnection(Number(new URL(port.origin).port));
    const head = `GET /?query=SELECT+1 HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`;
    expect((await connection.ask(head, 30_000)).status).toBe(431);
    connection.close();
  });
});

describe('a state of an aggregate function', () => {
  it.each([
    'AggregateFunction(sum, UInt64)',
    'Array(AggregateFunction(sum, UInt64))',
    'Array(`AggregateFunction`(sum, UInt64))',
    'Array(`Aggregate\\x46unction`(sum, UInt64))',
    '"AggregateFunction"(sum, UInt64)',
    'Tuple(a UInt8, b AggregateFunction(uniq, String))',
    'SimpleAggregateFunction(sum, UInt64)',
  ])('is refused as a parameter of type %s before it is read', async (type) => {
    for (const sql of [`SELECT {x:${type}}`, `SELECT {x : ${type} }`, `SELECT /* { */ {x:${type}}`]) {
      const reply = await asked(sql, { param_x: '\\0\\0garbage' });
      expect(reply.status, reply.text).toBeGreaterThanOrEqual(400);
      expect([497, 62], reply.text).toContain(reply.code);
    }
  });

  it('is refused as the computed structure of made-up rows', async () => {
    for (const structure of [
      "concat('x Aggregate', 'Function(sum, UInt8)')",
      "(SELECT 'x Aggregate' || 'Function(sum, UInt8)')",
      '{x:String}',
    ]) {
      const reply = await asked(`SELECT * FROM values(${structure}, 'a')`, {
        param_x: 'x AggregateFunction(sum, UInt8)',
      });
      expect(reply, structure).toMatchObject({ status: 403, code: 497 });
    }
    expect((await asked("SELECT * FROM values('x UInt8', 1, 2)")).text).toBe('1\n2\n');
    expect((await asked("SELECT * FROM values((1, 'a'), (2, 'b'))")).text).toBe('1\ta\n2\tb\n');
  });

  it('leaves other parameters as they were', async () => {
    expect((await asked("SELECT {x:Array(DateTime('UTC'))}", { param_x: "['2026-01-01 00:00:00']" })).text).toBe(
      "['2026-01-01 00:00:00']\n",
    );
  });
});

describe('of what is hidden', () => {
  it('system.databases shows no path', async () => {
    for (const sql of [
      'SELECT * FROM system.databases',
      'SELECT d.* FROM system.databases AS d',
      "SELECT COLUMNS('path') FROM system.databases",
      'SELECT data_path FROM system.databases',
      'SELECT `metadata_path` FROM `system`.`databases`',
      'SELECT d.data_path AS name FROM system.databases AS d',
      'SELECT length(x) FROM (SELECT data_path AS x FROM system.databases)',
      'SELECT name FROM system.databases WHERE startsWith(data_path, {x:String})',
      "SELECT ('forecastle', 'Atomic', '', '', '', '', '') IN system.databases",
      'SELECT * FROM {table:Identifier}',
      'SELECT {column:Identifier} FROM system.databases',
    ]) {
      const search = { param_x: '/', param_table: 'system.databases', param_column: 'data_path' };
      const names = Object.entries(search).filter(([name]) => sql.includes(`{${name.slice('param_'.length)}:`));
      const reply = await asked(sql, Object.fromEntries(names));
      expect(reply, sql).toMatchObject({ status: 403, code: 497 });
      expect(reply.text).not.toContain(port.directory);
    }
    expect((await asked('SELECT name, engine FROM system.databases')).text).toBe('forecastle\tAtomic\n');
    expect((await asked('SHOW DATABASES')).text).toBe('forecastle\n');
  });

  it('a hint names what may be read, and nothing else', async () => {
    for (const sql of [
      'SELECT * FROM trade',
      'SELECT * FROM tradess',
      'DESCRIBE trade',
      'SELECT * FROM v_trades JOIN market_ref USING (market_key)',
      'SELECT * FROM (SELECT 1) WHERE 1 IN (SELECT 1 FROM market_stat)',
    ]) {
      const { text, code } = await asked(sql);
      expect([60, 497], text).toContain(code);
      expect(text, sql).not.toMatch(/(?<!v_)trades\b|market_refs|market_states?\b/);
    }
  });

  it('hints that name what may be read stay', async () => {
    expect((await asked('SELECT pricee FROM v_trades')).text).toContain("Maybe you meant: ['price']");
    expect((await asked('SELECT * FROM v_trade')).text).toContain('Maybe you meant forecastle.v_trades');
  });
});

/** How Node's own threads are called: by its program, from Node 24 on by what they do. */
const OF_NODE = /\((?:node|MainThread|V8Worker|DelayedTaskSche|SignalInspector|libuv-worker)$/;
/** The nice values of the engine's threads; those of Node, which are older, run no statements. */
const niceValues = (): string[] => {
  const tasks = `/proc/${port.engine.pid()}/task`;
  return readdirSync(tasks).flatMap((id) => {
    const [name = '', fields = ''] = readFileSync(`${tasks}/${id}/stat`, 'utf8').split(') ');
    return OF_NODE.test(name) ? [] : [fields.split(' ')[16] ?? ''];
  });
};
/** Bit 23 of a process's effective capabilities. */
const mayGiveBack = (): boolean => {
  const [, mask = '0'] = /CapEff:\s*(\w+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & (1n << 23n)) !== 0n;
};

it('a query leaves the processor to what the service asks, where the system lets it, and its threads are as before', async () => {
  const client = new AbortController();
  const sql = 'SELECT sum(a.size * b.size * c.size) FROM v_trades a CROSS JOIN v_trades b CROSS JOIN v_trades c';
  const query = asked(sql, {}, { signal: client.signal });
  query.catch(() => {});
  await expect.poll(() => niceValues().includes('19')).toBe(mayGiveBack());
  client.abort();
  await expect(query).rejects.toThrow('aborted');
  await expect.poll(() => niceValues().every(isUsual)).toBe(true);
});

it('every thread that runs statements gives way to the service from the start', () => {
  expect(atStart.filter((nice) => !isUsual(nice))).toEqual([]);
  expect(atStart.filter(isUsual).length).toBeGreaterThan(10);
});

/** Five above the service. The engine raises some of its threads, which run no statements, where the system lets it. */
const isUsual = (nice: string): boolean => nice === String(Math.min(getPriority() + 5, 19)) || Number(nice) < 0;
