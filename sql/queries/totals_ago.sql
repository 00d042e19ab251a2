-- GET metrics/snapshot: what a market's platform reported as its total at {month} and at {year}, each by the newest snapshot of the hours
-- since {month_from} and {year_from}; no row where there is none. One condition on ranges: two statements would be planned twice.
SELECT if(at > {year:DateTime64(3, 'UTC')}, '30d', '1y') AS span, assumeNotNull(volume_total) AS total FROM market_snapshots
WHERE market_key = sipHash64({platform:String}, {ref:String}) AND isNotNull(volume_total)
  AND (at BETWEEN {month_from:DateTime64(3, 'UTC')} AND {month:DateTime64(3, 'UTC')}
    OR at BETWEEN {year_from:DateTime64(3, 'UTC')} AND {year:DateTime64(3, 'UTC')})
ORDER BY at DESC
LIMIT 1 BY span
