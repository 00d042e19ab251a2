-- GET metrics/snapshot: what the platform reported as the total of each market at {month} and at {year}, each by the newest snapshot of the hours
-- since {month_from} and {year_from}; no row where there is none. One condition on ranges: two statements would be planned twice.
SELECT market_key AS key, if(at > {year:DateTime64(3, 'UTC')}, '30d', '1y') AS span, assumeNotNull(volume_total) AS total FROM market_snapshots
WHERE market_key IN {keys:Array(UInt64)} AND isNotNull(volume_total)
  AND (at BETWEEN {month_from:DateTime64(3, 'UTC')} AND {month:DateTime64(3, 'UTC')}
    OR at BETWEEN {year_from:DateTime64(3, 'UTC')} AND {year:DateTime64(3, 'UTC')})
ORDER BY at DESC
LIMIT 1 BY market_key, span
