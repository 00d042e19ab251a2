import { ClickHouseLogLevel, createClient } from '@clickhouse/client';

/** A program of an analyst: the unmodified client on the address, user and password it is given; prints what it read as JSON. */
const [url = '', username = '', password = ''] = process.argv.slice(2);
const client = createClient({ url, username, password, log: { level: ClickHouseLogLevel.OFF } });
const tables = await client.query({ query: 'SHOW TABLES', format: 'JSONEachRow' });
const views = (await tables.json<{ name: string }>()).map(({ name }) => name);
const counts: Record<string, number> = {};
for (const view of views) {
  const result = await client.query({
    query: 'SELECT count() AS n FROM {view:Identifier}',
    query_params: { view },
    format: 'JSONEachRow',
  });
  counts[view] = Number((await result.json<{ n: string }>())[0]?.n);
}
const pings = [await client.ping(), await client.ping({ select: true })].map(({ success }) => success);
const failure = (error: { code?: string }): string => error.code ?? '';
const write = await client.insert({ table: 'v_trades', values: [{ size: 1 }] }).then(() => '', failure);
const table = await client.query({ query: 'SELECT * FROM trades' }).then(() => '', failure);
await client.close();
process.stdout.write(JSON.stringify({ pings, counts, refused: { write, table } }));
