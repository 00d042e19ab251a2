/** Example queries from docs/sql.md. */
export const EXAMPLES: readonly (readonly [name: string, sql: string])[] = [
  [
    'Volume by platform and day',
    `SELECT toDate(hour) AS day, platform, sum(trades) AS trades, round(sum(notional)) AS usd
FROM v_volume
WHERE hour >= today() - 30
GROUP BY day, platform
ORDER BY day DESC, usd DESC`,
  ],
  [
    'Open markets by volume, with their spread',
    `SELECT id, title, price, spread, volume_24h_usd
FROM v_markets
WHERE status = 'open'
ORDER BY volume_24h_usd DESC NULLS LAST
LIMIT 20`,
  ],
  [
    'Trades by minute of the last hour',
    `SELECT toStartOfMinute(executed_at) AS minute, count() AS trades, sum(notional) AS usd
FROM v_trades
WHERE executed_at >= now() - 3600
GROUP BY minute
ORDER BY minute`,
  ],
  [
    'Largest trades of the week',
    `SELECT executed_at, platform, title, outcome, side, price, size, notional
FROM v_whales
WHERE executed_at >= now() - 604800
ORDER BY notional DESC
LIMIT 20`,
  ],
  [
    'Last runs of the ingestion jobs',
    `SELECT *
FROM v_ingestion
ORDER BY finished_at DESC
LIMIT 20`,
  ],
];
