import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { newApiKey } from '../../../src/accounts/api-key-format.ts';
import { migratedDatabase } from '../../helpers/databases.ts';
import { startProcess } from '../../helpers/process.ts';
import { ACCOUNT, SqlPortUnderTest } from '../../helpers/sql-port.ts';

const run = promisify(execFile);
const ANALYST = fileURLToPath(new URL('../../helpers/analyst-process.ts', import.meta.url));

interface Seen {
  method: string;
  path: string;
  search: Record<string, string>;
  authorization: string;
  body: string;
}

let port: SqlPortUnderTest;
let relay: Server;
const seen: Seen[] = [];

beforeAll(async () => {
  port = await SqlPortUnderTest.start();
  relay = createServer(
    (from, to) => void pass(from).then((answer) => answer.pipe(to.writeHead(answer.statusCode ?? 0, answer.headers))),
  );
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
});

afterAll(async () => {
  relay.close();
  await port.close();
});

/** Notes a request and hands it to the port as it came. */
async function pass(from: IncomingMessage): Promise<IncomingMessage> {
  const parts: Buffer[] = [];
  for await (const part of from) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const { method = '', headers, url = '' } = from;
  const { pathname, searchParams } = new URL(url, port.origin);
  const search = Object.fromEntries(searchParams);
  seen.push({ method, path: pathname, search, authorization: headers.authorization ?? '', body: body.toString() });
  const onward = request(`${port.origin}${url}`, { method, headers }).end(body);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  return answer;
}

it('a second process reads every view with the unmodified client, whose own requests are these and no others', async () => {
  const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const argv = ['--import', 'tsx', ANALYST, url, ACCOUNT.user, ACCOUNT.password];
  const { stdout } = await run(process.execPath, argv);
  const { pings, counts, refused } = JSON.parse(stdout) as {
    pings: boolean[];
    counts: Record<string, number>;
    refused: Record<string, string>;
  };
  expect(Object.keys(counts)).toHaveLength(17);
  for (const [view, rows] of Object.entries(counts)) expect(rows, view).toBeGreaterThan(0);
  expect(pings).toEqual([true, true]);
  expect(refused).toEqual({ write: '164', table: '497' });

  const basic = `Basic ${Buffer.from(`${ACCOUNT.user}:${ACCOUNT.password}`).toString('base64')}`;
  for (const { authorization } of seen) expect(authorization).toBe(basic);
  const kinds = seen.map(({ method, path, search, body }) => {
    const { query_id: id, ...rest } = search;
    if (path !== '/ping') expect(id).toMatch(/^[\da-f-]{36}$/);
    return [method, path, Object.keys(rest).toSorted().join(), body.trim().split('\n').at(-1)].join(' ').trim();
  });
  expect([...new Set(kinds)].toSorted()).toEqual(
    [
      'GET / query',
      'GET /ping',
      'POST /  FORMAT JSON',
      'POST /  FORMAT JSONEachRow',
      'POST / param_view FORMAT JSONEachRow',
      'POST / query {"size":1}',
    ].toSorted(),
  );
});

it('is not a store for the API, which says so at its start; the engine itself serves one in another process', async () => {
  const key = newApiKey();
  const database = await migratedDatabase();
  onTestFinished(() => database.drop());
  const start = (name: string, url: string) => {
    const dataDir = join(port.directory, name);
    const stores = { DATABASE_URL: database.url, CLICKHOUSE_URL: url };
    return startProcess('api', { DATA_DIR: dataDir, ...stores, DEMO_API_KEY: key });
  };
  const { host } = new URL(port.origin);
  const refused = start('refused', `http://${ACCOUNT.user}:${encodeURIComponent(ACCOUNT.password)}@${host}`);
  await expect(refused.ready).rejects.toThrow('CLICKHOUSE_URL: its schema could not be migrated: ');
  expect(await refused.ended).toBe(1);

  const served = start('served', port.engine.url);
  const answer = await fetch(`${await served.ready}/v1/api/trades/whales?platform=kalshi&min_size=250&limit=5`, {
    headers: { 'x-api-key': key },
  });
  const { trades } = (await answer.json()) as { trades: { size: number }[] };
  expect(trades).toHaveLength(5);
  for (const { size } of trades) expect(size).toBeGreaterThanOrEqual(250);
  served.kill('SIGTERM');
  expect(await served.ended).toBe(0);
});
