import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** Compares every roll-up with the raw trades, by counts and exact sums; returns what differs ([] when all agree). */
export async function rollupDifferences(clickhouse: ClickHouse): Promise<string[]> {
  const [raw] = await clickhouse.sql<{ rows: string; ids: string; v: string; q: string; large: string }>(
    `SELECT count() AS rows, uniqExact(platform, trade_id) AS ids, sum(size) AS v, sum(notional) AS q, countIf(size >= 250) AS large FROM trades`,
  );
  const differences: string[] = [];
  if (raw?.rows !== raw?.ids) differences.push(`trades: ${raw?.rows} rows, ${raw?.ids} ids`);
  for (const table of ['candles_1m', 'candles_1h', 'volume_1h', 'market_totals']) {
    const [row] = await clickhouse.sql<{ rows: string; v: string; q: string }>(
      `SELECT toString(sum(n)) AS rows, sum(v) AS v, sum(q) AS q FROM ${table}`,
    );
    const says = `${row?.rows} rows, ${row?.v} contracts, ${row?.q} USD`;
    const should = `${raw?.rows} rows, ${raw?.v} contracts, ${raw?.q} USD`;
    if (says !== should) differences.push(`${table}: ${says} instead of ${should}`);
  }
  for (const table of ['whales', 'whale_sizes']) {
    const [list] = await clickhouse.sql<{ rows: string }>(`SELECT count() AS rows FROM ${table}`);
    if (list?.rows !== raw?.large) differences.push(`${table}: ${list?.rows} rows instead of ${raw?.large}`);
  }
  return differences;
}
