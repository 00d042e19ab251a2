import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqlPortUnderTest } from '../../helpers/sql-port.ts';

let port: SqlPortUnderTest;
let folder: string;
let outside: Server;
let address: string;
let calls = 0;

const SECRET = 'what no analyst may see';

beforeAll(async () => {
  port = await SqlPortUnderTest.start();
  folder = mkdtempSync(join(tmpdir(), 'forecastle-attack-'));
  writeFileSync(join(folder, 'secret'), SECRET);
  outside = createServer((_, response) => {
    calls += 1;
    response.end(SECRET);
  }).listen(0, '127.0.0.1');
  await once(outside, 'listening');
  address = `127.0.0.1:${(outside.address() as AddressInfo).port}`;
});

afterAll(async () => {
  outside.close();
  await port.close();
  rmSync(folder, { recursive: true });
});

/** Everything an attack could have changed. */
const state = async () =>
  JSON.stringify(
    await port.store.sql(
      `SELECT (SELECT count() FROM trades) AS trades, (SELECT groupArray(name) FROM (SELECT name FROM system.tables WHERE database = 'forecastle' ORDER BY name)) AS tables,
        (SELECT groupArray(name) FROM system.databases) AS databases, (SELECT count() FROM system.functions) AS functions`,
    ),
  );

/** Refused with one of these codes: unknown table, syntax, format, database, setting, read-only, parameter, access. */
const REFUSALS = new Set(['60', '62', '73', '81', '36', '46', '47', '48', '164', '456', '497']);

/** Streamed, and made whole. */
const WAYS: Record<string, string>[] = [{}, { wait_end_of_query: '1', default_format: 'JSONEachRow' }];

const fill = (text: string) => text.replaceAll('DIR', folder).replaceAll('ADDRESS', address);

const ATTACKS: Record<string, string[]> = {
  'reading files': [
    "SELECT file('DIR/secret')",
    "SELECT FILE('DIR/secret')",
    "SELECT `file`('DIR/secret')",
    "SELECT * FROM file('DIR/secret', 'LineAsString')",
    'SELECT * FROM `default`.`DIR/secret`',
    "SELECT * FROM filesystem('DIR')",
    "DESCRIBE file('DIR/secret')",
    "DESCRIBE TABLE file('DIR/secret', 'LineAsString')",
    "EXPLAIN SELECT file('DIR/secret')",
    "SELECT arrayMap(x -> file(x), ['DIR/secret'])",
    "SELECT * APPLY(x -> file('DIR/secret')) FROM v_markets",
    "SELECT * REPLACE (file('DIR/secret') AS title) FROM v_markets",
    "SELECT 1 ORDER BY file('DIR/secret')",
    "SELECT 1 WHERE file('DIR/secret') != '' LIMIT length(file('DIR/secret'))",
    "WITH file('DIR/secret') AS x SELECT x",
    "SELECT (SELECT file('DIR/secret'))",
    "SELECT 1 WINDOW w AS (ORDER BY file('DIR/secret'))",
    "SELECT * FROM v_markets JOIN v_trades ON file('DIR/secret') = title",
    "SELECT * FROM v_markets ARRAY JOIN [file('DIR/secret')] AS x",
    "SELECT * FROM numbers(length(file('DIR/secret')))",
    "SELECT * FROM eval('SELECT file(\\'DIR/secret\\')')",
    "SELECT * FROM view(SELECT file('DIR/secret'))",
    "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))",
    "SELECT * FROM format(LineAsString, file('DIR/secret'))",
    "SHOW TABLES WHERE name = file('DIR/secret')",
    "SHOW COLUMNS FROM v_markets WHERE file('DIR/secret') != ''",
    "SELECT catboostEvaluate('DIR/secret', 1)",
    "SELECT 1 AS `a\n    Literal UInt64_1`, file('DIR/secret')",
    "SELECT formatRow('Template', file('DIR/secret'))",
  ],
  'writing files': [
    "SELECT 1 INTO OUTFILE 'DIR/out'",
    "SELECT 1 INTO/**/OUTFILE 'DIR/out'",
    "SELECT 1 INTO -- x\n OUTFILE 'DIR/out' TRUNCATE",
    "EXPLAIN AST SELECT 1 INTO OUTFILE 'DIR/out'",
    "EXPLAIN SELECT 1 INTO OUTFILE 'DIR/out'",
    "DESCRIBE v_trades INTO OUTFILE 'DIR/out'",
    "SHOW TABLES INTO OUTFILE 'DIR/out'",
    "(SELECT 1) UNION ALL SELECT 2 INTO OUTFILE 'DIR/out' FORMAT CSV",
    "INSERT INTO FUNCTION file('DIR/out', 'CSV', 'a Int8') SELECT 1",
    "SELECT 1 SETTINGS output_format_schema = 'DIR/out'",
    "BACKUP DATABASE forecastle TO File('DIR/out')",
  ],
  'reaching other machines': [
    "SELECT * FROM url('http://ADDRESS/', 'LineAsString')",
    "SELECT * FROM s3('http://ADDRESS/bucket/x', 'CSV')",
    "SELECT * FROM remote('ADDRESS', system.one)",
    "SELECT * FROM remoteSecure('ADDRESS', 'system', 'one')",
    "SELECT * FROM cluster('default', system.one)",
    "SELECT * FROM mysql('ADDRESS', 'a', 'b', 'c', 'd')",
    "SELECT * FROM postgresql('ADDRESS', 'a', 'b', 'c', 'd')",
    "SELECT * FROM mongodb('ADDRESS', 'a', 'b', 'c', 'd', 'e Int8')",
    "SELECT * FROM redis('ADDRESS', 'k', 'k String')",
    "SELECT * FROM sqlite('DIR/db', 't')",
    "SELECT * FROM jdbc('ADDRESS', 'a', 'b')",
    "SELECT * FROM executable('cat', 'LineAsString', 'x String', (SELECT 1))",
    "SELECT * FROM iceberg('http://ADDRESS/x')",
    "SELECT * FROM deltaLake('http://ADDRESS/x')",
    "EXPLAIN TABLE OVERRIDE mysql('ADDRESS', 'a', 'b', 'c', 'd') COLUMNS (x Int32)",
    "SELECT hasColumnInTable('ADDRESS', 'a', 'b', 'system', 'one', 'dummy')",
    "SELECT aiGenerate('x')",
    "SELECT 1 SETTINGS format_avro_schema_registry_url = 'http://ADDRESS/'",
  ],
  'reaching other tables': [
    'SELECT * FROM trades',
    'SELECT * FROM forecastle.trades',
    'SELECT * FROM `forecastle`.`trades`',
    'SELECT * FROM "trades" AS v_trades',
    'SELECT * FROM v_trades, trades',
    'SELECT * FROM v_trades JOIN trades USING (market_key)',
    'SELECT * FROM (SELECT * FROM trades)',
    'SELECT (SELECT count() FROM trades)',
    'SELECT 1 WHERE 1 IN trades',
    'SELECT 1 WHERE 1 IN forecastle.market_refs',
    'SELECT in(1, trades)',
    'SELECT 1 WHERE 1 GLOBAL NOT IN trades',
    'SELECT nullIn(1, trades)',
    'SELECT inIgnoreSet(1, trades)',
    'SELECT 1 WHERE exists(SELECT 1 FROM trades)',
    'WITH x AS (SELECT * FROM trades) SELECT * FROM x',
    "SELECT * FROM merge('forecastle', '^trades$')",
    'SELECT * FROM merge(^trades$)',
    'SELECT * FROM loop(trades)',
    "SELECT * FROM mergeTreeIndex('forecastle', 'trades')",
    "SELECT * FROM dictionary('x')",
    "SELECT joinGet('forecastle.trades', 'price', 1)",
    "SELECT dictGet('x', 'y', 1)",
    'SELECT * FROM system.processes',
    'SELECT * FROM system.settings',
    'SELECT * FROM system.disks',
    'SELECT * FROM information_schema.tables',
    'SELECT * FROM INFORMATION_SCHEMA.TABLES',
    'DESCRIBE TABLE trades',
    'SHOW CREATE TABLE trades',
    'EXISTS TABLE trades',
    'CHECK TABLE trades',
    'SELECT price FROM v_trades UNION ALL SELECT price FROM trades',
    'SELECT * FROM numbers(3) INTERSECT SELECT market_key FROM trades',
    'SELECT 1 PARALLEL WITH SELECT * FROM trades',
  ],
  'changing anything': [
    'DROP TABLE trades',
    'DROP VIEW v_trades',
    'TRUNCATE TABLE trades',
    'ALTER TABLE trades DELETE WHERE 1',
    'DELETE FROM trades WHERE 1',
    'UPDATE trades SET size = 1 WHERE 1',
    'OPTIMIZE TABLE trades FINAL',
    'RENAME TABLE trades TO t',
    'CREATE TABLE owned (a Int8) ENGINE = Memory',
    'CREATE TEMPORARY TABLE owned (a Int8)',
    'CREATE VIEW v_owned AS SELECT 1',
    'CREATE FUNCTION owned AS x -> x',
    'CREATE DATABASE owned',
    'CREATE DICTIONARY owned (a Int8) PRIMARY KEY a SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)',
    'ATTACH TABLE owned',
    'DETACH TABLE trades',
    'INSERT INTO trades SELECT * FROM v_trades',
    'INSERT INTO v_trades VALUES (1)',
    'EXPLAIN INSERT INTO trades SELECT 1',
    'SET max_threads = 16',
    'SET readonly = 0',
    'USE system',
    'SYSTEM STOP MERGES',
    'SYSTEM SHUTDOWN',
    'SYSTEM FLUSH LOGS',
    'KILL QUERY WHERE 1',
    'KILL MUTATION WHERE 1',
    'GRANT ALL ON *.* TO default',
    'CREATE USER owned',
    'EXECUTE AS default SELECT 1',
    'BEGIN TRANSACTION',
    'MOVE x',
  ],
  'hiding a second statement': [
    'SELECT 1; DROP TABLE trades',
    'SELECT 1;DROP TABLE trades;',
    'SELECT 1 -- x\n; DROP TABLE trades',
    "SELECT ''';' ; DROP TABLE trades",
    'SELECT 1 /* ; */ ; DROP TABLE trades',
    'SELECT 1 /* /* */ ; DROP TABLE trades */ ; DROP TABLE trades',
    'SELECT $$;$$; DROP TABLE trades',
    'SELECT $a$ $b$ ;$a$; DROP TABLE trades',
    'SELECT 1 # x\n; DROP TABLE trades',
    'SELECT 1 #!x\n; DROP TABLE trades',
    'SELECT `a;`; DROP TABLE trades',
    'SELECT 1 FORMAT CSV\n; DROP TABLE trades',
    'SELECT 1\0; DROP TABLE trades',
    '/*!SELECT 1*/ DROP TABLE trades',
    'SELECT 1 \u2028; DROP TABLE trades',
    'INSERT INTO trades FORMAT CSV\n1; DROP TABLE trades',
  ],
  'settings and formats beyond the limits': [
    'SELECT 1 SETTINGS max_memory_usage = 1000000000000',
    'SELECT 1 SETTINGS allow_introspection_functions = 1',
    'SELECT * FROM (SELECT 1 SETTINGS max_threads = 4)',
    'SELECT 1 SETTINGS additional_table_filters = {}',
    'SELECT 1 FORMAT Template',
    'SELECT 1 FORMAT Protobuf',
    'SELECT 1 FORMAT MySQLWire',
    "SELECT CAST('x', 'AggregateFunction(sum, UInt8)')",
    "SELECT CAST('x', concat('Aggregate', 'Function(sum, UInt8)'))",
    "SELECT arrayReduce('sumMerge', ['x'])",
    'SELECT sumMerge(price) FROM v_trades',
    'SELECT sleep(3)',
    'SELECT sleepEachRow(3)',
    "SELECT getSetting('max_threads')",
    "SELECT getServerPort('tcp_port')",
    'SELECT hostName()',
    'SELECT addressToLine(1)',
    "SELECT logTrace('x')",
    'SELECT serverUUID()',
  ],
};

for (const [kind, statements] of Object.entries(ATTACKS)) {
  it(`refuses ${kind}`, async () => {
    const before = await state();
    for (const statement of statements.map(fill)) {
      for (const search of WAYS) {
        const reply = await port.ask(statement, search);
        const answer = await reply.text();
        expect(answer, statement).not.toContain(SECRET);
        expect(reply.status, `${statement} was answered ${answer.slice(0, 200)}`).toBeGreaterThanOrEqual(400);
        expect(REFUSALS, `${statement} failed otherwise: ${answer}`).toContain(
          reply.headers.get('x-clickhouse-exception-code'),
        );
      }
    }
    expect(calls).toBe(0);
    expect(existsSync(join(folder, 'out'))).toBe(false);
    expect(await state()).toBe(before);
    // The port still answers.
    for (let i = 0; i < 4; i += 1) expect(await (await port.ask('SELECT 7')).text()).toBe('7\n');
  });
}

describe('what comes beside the statement', () => {
  it('as a setting in the URL is refused unless it only asks for less', async () => {
    const refused: Record<string, string>[] = [
      { allow_ddl: '1' },
      { max_memory_usage: '0' },
      { additional_table_filters: '{}' },
      { 'max_threads=1, readonly': '0' },
      { max_execution_time: 'x' },
      { output_format_schema: join(folder, 'out') },
      { format_schema: 'x' },
      { session_id: 'x' },
      { role: 'x' },
      { stacktrace: '1', database: 'system' },
    ];
    for (const search of refused)
      expect((await port.ask('SELECT 1', search)).status, JSON.stringify(search)).toBeGreaterThanOrEqual(400);
    for (const most of ['0', '1e99', '999999']) {
      const reply = await port.ask('SELECT count() FROM numbers(2000000) FORMAT Null', {
        max_threads: most,
        readonly: '0',
      });
      expect(reply.status).toBe(200);
    }
  });

  it('as a parameter is judged by its value', async () => {
    const read = async (value: string) =>
      (await port.ask('SELECT count() FROM {table:Identifier}', { param_table: value })).status;
    expect(await read('v_trades')).toBe(200);
    expect(await read('trades')).toBe(403);
    expect(await read('forecastle.trades')).toBe(404);
    const text = await port.ask('SELECT {x:String}', { param_x: "'); DROP TABLE trades; --" });
    expect(await text.text()).toBe("\\'); DROP TABLE trades; --\n");
  });

  it('as a body behind a statement in the URL is refused', async () => {
    expect((await port.ask('; DROP TABLE trades', { query: 'SELECT 1' })).status).toBeGreaterThanOrEqual(400);
    expect((await port.ask('1,2', { query: 'INSERT INTO trades FORMAT CSV' })).status).toBeGreaterThanOrEqual(400);
  });
});

/** The error code of an answer that is made whole. */
const code = async (sql: string, search: Record<string, string> = {}) => {
  const reply = await port.ask(sql, { wait_end_of_query: '1', ...search });
  await reply.text();
  return reply.headers.get('x-clickhouse-exception-code');
};

describe('a query that wants too much', () => {
  it('is stopped by its limits of rows, time, memory and size', async () => {
    expect(await code('SELECT number FROM numbers(2000000)')).toBe('396');
    expect(await code('SELECT max(sipHash64(number)) FROM numbers(100000000000)', { max_execution_time: '1' })).toBe(
      '159',
    );
    expect(await code('SELECT uniqExact(number) FROM numbers(1000000000)')).toBe('241');
    expect(await code('SELECT groupArray(number) FROM numbers(1000000000)')).toBe('241');
    expect(await code(`SELECT '${'x'.repeat(70_000)}'`)).toBe('307');
    const doubling = Array.from({ length: 30 }, (_, i) => `(a${i}, a${i}) AS a${i + 1}`).join(', ');
    expect(await code(`WITH 1 AS a0, ${doubling} SELECT a30`)).toBe('36');
    expect(await code(`SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`)).toBe('306');
  });

  it('is reported after its first rows, and the body is cut off', async () => {
    const reply = await port.ask('SELECT number FROM numbers(2000000)');
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow('terminated');
  });

  it('is cut off at 256 MB, however short the statement and its columns', async () => {
    const reply = await port.ask(`SELECT 1 AS \`${'x'.repeat(50_000)}\` FROM numbers(1000000) FORMAT JSONEachRow`);
    let bytes = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of reply.body as AsyncIterable<Uint8Array>) bytes += chunk.length;
    };
    await expect(read()).rejects.toThrow('terminated');
    expect(bytes).toBeLessThanOrEqual(268_435_456);
  });
});
