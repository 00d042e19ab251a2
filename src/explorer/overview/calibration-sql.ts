import { quoted } from '../parts/panel.tsx';

const SECONDS = { '1h': 3600, '1d': 86_400, '7d': 604_800 } as const;

/** The calibration bins computed from the views, as in the API: each market at its last price before the horizon. */
export function sqlOfCalibration(platform: string, horizon: keyof typeof SECONDS): string {
  return `WITH settled AS (
  SELECT market_key, price AS payout, length(outcomes) > 2 AS is_many,
    least(coalesce(trading_end_at, resolved_at), coalesce(resolved_at, trading_end_at)) AS ended_at,
    if(ended_at <= synced_at, ended_at, NULL) AS closed_at,
    toDateTime64(ifNull(closed_at, toDateTime64(0, 3, 'UTC')), 6, 'UTC') - INTERVAL ${SECONDS[horizon]} SECOND AS instant
  FROM v_markets
  WHERE status = 'settled' AND NOT is_combo${platform === '' ? '' : ` AND platform = ${quoted(platform)}`}
  ORDER BY closed_at DESC NULLS LAST, market_key
  LIMIT 20000
),
known AS (
  -- The last hourly bar before the instant, a trade within its hour, or without trades the last quote.
  SELECT market_key, toDateTime64(t, 6, 'UTC') + INTERVAL 3599999999 MICROSECOND AS at, '' AS place, close AS price, true AS traded
  FROM v_candles
  WHERE interval = '1h' AND series = 0 AND close IS NOT NULL AND market_key IN (SELECT market_key FROM settled)
  UNION ALL
  SELECT market_key, executed_at, trade_id, toNullable(first_price), true
  FROM v_trades
  WHERE NOT is_block AND (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, toStartOfHour(instant) FROM settled)
    AND (outcome_index = 0 OR market_key NOT IN (SELECT market_key FROM settled WHERE is_many))
  UNION ALL
  SELECT market_key, toDateTime64(at, 6, 'UTC'), '', price, false
  FROM v_quotes
  WHERE price IS NOT NULL AND status != 'settled' AND market_key IN (SELECT market_key FROM settled)
),
priced AS (
  SELECT s.market_key AS market_key, any(s.payout) AS paid,
    argMaxIf(k.price, (k.traded, k.at, k.place), k.at <= s.instant) AS last_price
  FROM known AS k
  INNER JOIN settled AS s ON s.market_key = k.market_key
  WHERE s.closed_at IS NOT NULL AND s.payout IN (0, 1)
  GROUP BY s.market_key
  HAVING last_price IS NOT NULL
)
SELECT least(toInt64(floor(last_price * 10)), 9) / 10 AS price_from, count() AS markets, countIf(paid = 1) AS came_true,
  round(came_true / markets, 6) AS came_true_share, round(avg(toFloat64(last_price)), 6) AS mean_price
FROM priced
GROUP BY price_from
ORDER BY price_from`;
}
