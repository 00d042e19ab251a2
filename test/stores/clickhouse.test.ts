import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/core/time.ts';
import { connect, type ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { silent } from '../helpers/silent-log.ts';

const directory = mkdtempSync(join(tmpdir(), 'forecastle-store-'));
const queries = pathToFileURL(`${directory}/`);
const named = (name: string, sql: string) => writeFileSync(new URL(`${name}.sql`, queries), sql);

/** Tables of this run, so that a shared server can be used. */
const run = `t${Date.now().toString(36)}`;
const server = process.env.CLICKHOUSE_URL;

/** Gives the embedded engine's sessions another zone, as a server in another zone has it. */
function setZone(): void {
  mkdirSync(join(directory, 'conf.d'));
  const profile = '<default><session_timezone>Asia/Tokyo</session_timezone></default>';
  writeFileSync(join(directory, 'conf.d', 'zone.xml'), `<clickhouse><profiles>${profile}</profiles></clickhouse>`);
}

describe.each(server ? ['embedded', 'server'] : ['embedded'])('the store (%s)', (kind) => {
  let store: ClickHouse;
  let url: string;

  beforeAll(async () => {
    if (kind === 'embedded') setZone();
    const embedded =
      kind === 'embedded'
        ? await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 512, log: silent, clock: systemClock })
        : null;
    url = embedded?.url ?? server ?? '';
    store = connect(url, async () => embedded?.close(), { queries });
    await store.command(`CREATE TABLE ${run} (id UInt64, price Decimal64(10), at DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY id
      SETTINGS non_replicated_deduplication_window = 1000`);
    await store.command(`CREATE TABLE ${run}_sum (n Int64) ENGINE = SummingMergeTree ORDER BY tuple()
      SETTINGS non_replicated_deduplication_window = 1000`);
    await store.command(`CREATE MATERIALIZED VIEW ${run}_mv TO ${run}_sum AS SELECT toInt64(count()) AS n FROM ${run}`);
  });

  afterAll(async () => {
    for (const name of [`${run}_mv`, `${run}_sum`, run]) await store.command(`DROP TABLE IF EXISTS ${name}`);
    await store.close();
    if (kind === 'embedded') rmSync(directory, { recursive: true });
  });

  const numbers = async (params: { least?: number | undefined }) =>
    (await store.query('optional', z.object({ number: z.coerce.number() }), params)).map(({ number }) => number);

  const counts = async () => {
    const [row] = await store.sql<{ raw: string; summed: string }>(
      `SELECT (SELECT toString(count()) FROM ${run}) AS raw, (SELECT toString(sum(n)) FROM ${run}_sum) AS summed`,
    );
    return [row?.raw, row?.summed].map(Number);
  };

  it('leaves clauses out of a named query whose parameter is undefined', async () => {
    named(
      'optional',
      'SELECT number FROM numbers(4)\n/* with least */ WHERE number >= {least:UInt8} /* end */ ORDER BY number',
    );
    expect(await numbers({})).toEqual([0, 1, 2, 3]);
    expect(await numbers({ least: undefined })).toEqual([0, 1, 2, 3]);
    expect(await numbers({ least: 2 })).toEqual([2, 3]);
    expect(await numbers({ least: 0 })).toEqual([0, 1, 2, 3]);
  });

  it('runs a named query with parameters, and money and 64-bit numbers stay exact', async () => {
    named(
      'exact',
      "-- What is asked.\nSELECT {id:UInt64} AS id, {price:Decimal64(10)} AS price, {at:DateTime64(3, 'UTC')} AS at, 3 AS small;\n",
    );
    const Row = z.object({ id: z.string(), price: z.string(), at: z.string(), small: z.number() });
    const params = { id: '18446744073709551615', price: '0.1234567891', at: new Date(1_700_000_000_123) };
    expect(await store.query('exact', Row, params)).toEqual([
      { id: '18446744073709551615', price: '0.1234567891', at: '2023-11-14T22:13:20.123Z', small: 3 },
    ]);
  });

  it('reads and writes times without a zone as UTC, whatever the zone of the server', async () => {
    const at = '2026-01-01 00:00:00.000';
    const seconds = Date.UTC(2026, 0, 1) / 1000;
    named('seconds', 'SELECT toUnixTimestamp({at:DateTime64(3)}) AS seconds');
    expect(await store.query('seconds', z.object({ seconds: z.number() }), { at })).toEqual([{ seconds }]);
    expect(await text(await store.stream('seconds', { at }, 'JSONEachRow'))).toBe(`{"seconds":${seconds}}\n`);
    expect(await store.sql('SELECT toDateTime({seconds:UInt32}) AS at', { seconds })).toEqual([
      { at: '2026-01-01T00:00:00Z' },
    ]);
    const table = `${run}_times`;
    await store.command(`CREATE TABLE ${table} (at DateTime64(3)) ENGINE = MergeTree ORDER BY at`);
    await store.insert(table, [{ at }]);
    await store.command(`INSERT INTO ${table} SELECT {at:DateTime64(3)}`, { at });
    expect(await store.sql(`SELECT toUnixTimestamp(at) AS seconds FROM ${table}`)).toEqual([{ seconds }, { seconds }]);
    await store.command(`DROP TABLE ${table}`);
  });

  it('gives a statement without rows the time that its caller allows: a backup may take hours', async () => {
    const [hasty, patient] = [300, 30_000].map((ms) => connect(url, undefined, { commandMs: ms }));
    await expect(hasty?.command('SELECT sleep(1)')).rejects.toMatchObject({ kind: 'timeout' });
    await expect(patient?.command('SELECT sleep(1)')).resolves.toBeUndefined();
    await Promise.all([hasty?.close(), patient?.close()]);
  });

  it('refuses rows that are not what the caller expects', async () => {
    named('shape', 'SELECT 1 AS a');
    await expect(store.query('shape', z.object({ b: z.number() }))).rejects.toThrow(z.ZodError);
  });

  it('inserts rows and ready-made lines, and the same token twice changes nothing, in the view either', async () => {
    const [raw = 0, summed = 0] = await counts();
    const lines = Buffer.from(
      '{"id":"1","price":"0.5","at":"2025-01-02T03:04:05.678Z"}\n{"id":"2","price":"0.25","at":1}\n',
    );
    await store.insert(run, lines, { token: `${run}-a` });
    await store.insert(run, lines, { token: `${run}-a` });
    await store.insert(run, [{ id: '3', price: '0.0000000001' }], { token: `${run}-b` });
    expect(await counts()).toEqual([raw + 3, summed + 3]);
    expect(await store.sql(`SELECT price, at FROM ${run} WHERE id = 1`)).toEqual([
      { price: '0.5', at: '2025-01-02T03:04:05.678Z' },
    ]);
    await store.insert(run, []);
    await store.insert(run, Buffer.alloc(0));
    expect(await counts()).toEqual([raw + 3, summed + 3]);
  });

  it('writes a large batch as one block, so that its token stands for all of it', async () => {
    const before = await counts();
    const lines = Buffer.from(
      Array.from({ length: 100_000 }, (_, id) => `{"id":${1000 + id},"price":"0.5"}\n`).join(''),
    );
    await store.insert(run, lines, { token: `${run}-large` });
    await store.insert(run, lines, { token: `${run}-large` });
    expect(await counts()).toEqual(before.map((n) => n + 100_000));
  });

  it('passes values of any length and any characters unchanged', async () => {
    const odd = "a\tb\nc'd\\e\r\u{1F600}&=%+";
    for (const count of [0, 1, 2000]) {
      const list = Array.from({ length: count }, (_, i) => `${odd}${i}`);
      const [row] = await store.sql<{ same: string; list: string[] }>(
        'SELECT {odd:String} AS same, {list:Array(String)} AS list, {none:Nullable(String)} AS none',
        { odd, list, none: null },
      );
      expect(row).toEqual({ same: odd, list, none: null });
    }
  });

  it('says what kind of failure it was and keeps the SQL out of the message', async () => {
    const endless = 'SELECT max(sipHash64(number)) FROM numbers(100000000000)';
    const greedy = 'SELECT groupArray(number) FROM numbers(300000000) SETTINGS max_memory_usage = 100000000';
    const calls: [() => Promise<unknown>, string, string | undefined][] = [
      [() => store.sql('SELECT secret FROM nowhere'), 'failed', '60'],
      [() => store.sql(greedy), 'memory', '241'],
      [() => store.sql(endless, {}, { timeoutMs: 200 }), 'timeout', undefined],
      [() => store.sql(endless, {}, { signal: AbortSignal.timeout(100) }), 'aborted', undefined],
      [() => store.insert(run, [{ id: 'secret' }]), 'failed', '27'],
    ];
    for (const [call, failure, code] of calls) {
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'StoreError', kind: failure, code });
      expect(String(error)).not.toContain('secret');
    }
  });

  it('streams a result as it is made', async () => {
    named('export', 'SELECT number AS n FROM numbers({rows:UInt32})');
    expect(await text(await store.stream('export', { rows: 2 }, 'CSVWithNames'))).toBe('"n"\n0\n1\n');
    expect(await text(await store.stream('export', { rows: 0 }, 'CSVWithNames'))).toBe('"n"\n');
    expect((await text(await store.stream('export', { rows: 200_000 }, 'JSONEachRow'))).length).toBeGreaterThan(
      2_000_000,
    );
  });

  it('a result that fails on the way ends in an error, never as if it were whole', async () => {
    named('broken', 'SELECT throwIf(number = 400000) AS x FROM numbers(1000000)');
    for (const format of ['CSVWithNames', 'JSONEachRow'] as const) {
      const stream = await store.stream('broken', {}, format);
      await expect(text(stream)).rejects.toMatchObject({ name: 'StoreError', kind: 'failed', code: '395' });
    }
  });

  it('gives a streamed result up when its reader leaves', async () => {
    named('endless', 'SELECT number AS n FROM numbers(100000000000)');
    const stream = await store.stream('endless', {}, 'CSVWithNames');
    await new Promise((resolve) => void stream.once('data', resolve));
    stream.destroy();
    expect(await store.sql('SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });
});

it('an address without a listener is unreachable after some attempts, and the ping says so', async () => {
  const nobody = connect('http://default:x@127.0.0.1:1/forecastle');
  expect(await nobody.ping()).toBe(false);
  const startedAt = performance.now();
  await expect(nobody.sql('SELECT 1')).rejects.toMatchObject({ kind: 'unreachable' });
  expect(performance.now() - startedAt).toBeGreaterThan(2000);
  await nobody.close();
});
