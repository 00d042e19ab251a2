-- ingestion: markets that may have traded in a span: those whose total grew since the last day before it (no total is read while the
-- service is down), and those without a reported total of that day or of now, unless they had ended by then or began later
SELECT m.ref AS ref
FROM (
  SELECT market_key, volume_total,
    status IN ('closed', 'settled') AND ifNull(trading_end_at, toDateTime64('2199-01-01', 3, 'UTC')) < {from:DateTime64(6, 'UTC')} - INTERVAL 1 DAY AS was_over,
    ifNull(created_at, toDateTime64(0, 3, 'UTC')) <= {to:DateTime64(6, 'UTC')} AS had_begun
  FROM market_state FINAL
  WHERE platform = {platform:String}
) AS s
LEFT JOIN (
  SELECT market_key, max(volume_total) AS before FROM market_snapshots
  WHERE platform = {platform:String} AND at >= {from:DateTime64(6, 'UTC')} - INTERVAL 1 DAY AND at <= {from:DateTime64(6, 'UTC')}
  GROUP BY market_key
) AS b USING (market_key)
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
WHERE had_begun AND if(volume_total IS NULL OR before IS NULL, NOT was_over AND ifNull(volume_total, 1) > 0, volume_total > before)
