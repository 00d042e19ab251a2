import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { duck, sumsOfBoth } from '../helpers/day-files.ts';
import { SqlPortUnderTest } from '../helpers/sql-port.ts';

const run = promisify(execFile);
let service: SqlPortUnderTest;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-parquet-'));
  service = await SqlPortUnderTest.start();
});
afterAll(async () => {
  await service?.close();
  await rm(directory, { recursive: true, force: true });
});

it('answers the example of docs/files.md with Parquet that DuckDB reads', async () => {
  const page = await readFile(new URL('../../docs/files.md', import.meta.url), 'utf8');
  const [example = ''] = /^curl .* -o whales\.parquet .* FORMAT Parquet'$/m.exec(page) ?? [];
  expect(example).toContain(' http://127.0.0.1:8123/ ');
  const key = newApiKey();
  service.keys.add(key);
  const env = { ...process.env, KEY: key };
  await run('bash', ['-c', example.replace('http://127.0.0.1:8123', service.origin)], { cwd: directory, env });
  const file = join(directory, 'whales.parquet');
  const { files, stored } = await sumsOfBoth(file, service.store, 'SELECT * FROM v_whales LIMIT 1000');
  expect(Number(files['*'])).toBeGreaterThan(0);
  expect(files).toEqual(stored);
  const types = await duck(`DESCRIBE SELECT price, executed_at FROM '${file}'`);
  expect(types.map((one) => one['column_type'])).toEqual(['DECIMAL(38,10)', 'TIMESTAMP WITH TIME ZONE']);
});

it('writes every column of every view so that DuckDB sums it as the store does', async () => {
  const views = (await (await service.ask('SHOW TABLES FORMAT TSV')).text()).trim().split('\n');
  expect(views.length).toBeGreaterThan(10);
  for (const view of views) {
    const reply = await service.ask(`SELECT * FROM ${view} FORMAT Parquet`);
    const bytes = Buffer.from(await reply.arrayBuffer());
    expect([view, reply.status, bytes.subarray(0, 4).toString()]).toEqual([view, 200, 'PAR1']);
    const file = join(directory, `${view}.parquet`);
    await writeFile(file, bytes);
    const { files, stored } = await sumsOfBoth(file, service.store, `SELECT * FROM ${view}`);
    expect([view, files]).toEqual([view, stored]);
    expect(Number(files['*']), view).toBeGreaterThan(0);
  }
});
