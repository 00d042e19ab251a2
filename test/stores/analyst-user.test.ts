import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { createAnalystSql } from '../../src/stores/clickhouse/analyst-sql.ts';
import { analystStatements } from '../../src/stores/clickhouse/analyst-user.ts';
import { connect, type ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { silent } from '../helpers/silent-log.ts';

/** The embedded engine stores no users that statements make: its analyst gets a quota of two queries with the same key. */
const QUOTA = `<clickhouse>
  <quotas><analyst><keyed/><interval><duration>86400</duration><queries>2</queries></interval></analyst></quotas>
  <users><analyst><quota>analyst</quota></analyst></users>
</clickhouse>`;

let directory: string;
let store: ClickHouse;
let url: string;
let password: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-analyst-'));
  mkdirSync(join(directory, 'conf.d'));
  writeFileSync(join(directory, 'conf.d', 'quota.xml'), QUOTA);
  const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 512, log: silent, clock: systemClock });
  url = engine.url;
  password = decodeURIComponent(new URL(engine.analystUrl).password);
  store = connect(url, () => engine.close());
  await store.command('CREATE TABLE v_one ENGINE = MergeTree ORDER BY n AS SELECT 1 AS n');
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

test('the statements that create or renew SQL_USER are statements, without its password', async () => {
  const statements = analystStatements('ana`lyst', "pass'word of sixteen", ['v_trades', 'v_markets']);
  for (const statement of statements)
    expect((await store.sql('SELECT formatQuery({statement:String}) AS s', { statement })).length, statement).toBe(1);
  expect(statements.join('\n')).not.toContain("pass'word");
});

test('each start renews the profile and the quota of SQL_USER, and no limit is lifted by asking for 0', () => {
  const statements = analystStatements('analyst', 'password of sixteen', []);
  for (const kind of ['SETTINGS PROFILE', 'USER', 'QUOTA']) {
    const of = (verb: string) => statements.filter((one) => one.startsWith(`${verb} ${kind}`));
    expect([of('CREATE').length, of('ALTER').length], kind).toEqual([1, 1]);
  }
  const limits = statements.join(', ').match(/\w+ = \d+ (MIN|MAX) [^,]*/g) ?? [];
  expect(limits.length).toBeGreaterThan(5);
  for (const limit of limits) expect(limit).toMatch(/ MIN [1-9]/);
});

test('a user of POST /v1/api/sql who has used up the quota of a server leaves that of the others', async () => {
  const sql = createAnalystSql({ CLICKHOUSE_URL: url, SQL_USER: 'analyst', SQL_PASSWORD: password });
  const ask = async (user: string): Promise<string> => {
    const over = new AbortController();
    try {
      return await (await sql.run(user, 'SELECT n FROM v_one', 'csv', over.signal)).text();
    } finally {
      over.abort();
    }
  };
  for (let n = 0; n < 2; n += 1) expect(await ask('one')).toBe('"n"\n1\n');
  await expect(ask('one')).rejects.toMatchObject({ status: 503, errorText: expect.stringContaining('Quota') });
  expect(await ask('other')).toBe('"n"\n1\n');
});
