-- ingestion: markets whose total volume moved around a span, or that have no snapshot before it
SELECT m.ref AS ref
FROM (
  SELECT market_key FROM market_snapshots
  WHERE platform = {platform:String} AND at >= {from:DateTime64(6, 'UTC')} - INTERVAL 1 HOUR AND at <= {to:DateTime64(6, 'UTC')} + INTERVAL 1 HOUR
  GROUP BY market_key HAVING max(volume_total) > min(volume_total) OR min(at) > {from:DateTime64(6, 'UTC')}
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
