-- files: the span with all trades stored, and whether the feed has a gap in it, by platform
SELECT f.platform AS platform, toUnixTimestamp64Micro(f.complete_from) AS from_us, toUnixTimestamp64Micro(f.complete_to) AS to_us, g.gaps AS gaps
FROM (SELECT platform, complete_from, complete_to FROM trade_coverage FINAL WHERE market_key = 0) AS f
LEFT JOIN (
  SELECT platform, groupArray((toUnixTimestamp64Micro(gap_from), toUnixTimestamp64Micro(gap_to))) AS gaps
  FROM trade_gaps FINAL WHERE filled = 0 GROUP BY platform
) AS g USING (platform)
