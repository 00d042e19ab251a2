-- GET analytics/categories: markets by category; volumes of all of them, liquidity and spread of the open ones
SELECT category_slug AS slug, max(category) AS name, max(as_of) AS as_of,
  countIf(status = 'open') AS active, count() AS total,
  sumOrNull(volume_24h) AS volume_24h, sumOrNull(volume_7d) AS volume_7d, sumOrNull(volume_30d) AS volume_30d, sumOrNull(volume_total) AS volume_total,
  sumIf(liquidity, status = 'open') AS liquidity,
  sumIf(spread, status = 'open' AND isNotNull(spread)) AS spreads, countIf(status = 'open' AND isNotNull(spread)) AS two_sided,
  groupUniqArray(toString(platform)) AS platforms
FROM market_windows
WHERE (empty({platforms:Array(String)}) OR platform IN {platforms:Array(String)})
  AND market_key NOT IN (
    -- FINAL: a placeholder may become a market. It reads only those that ever were one.
    SELECT market_key FROM market_state FINAL PREWHERE market_key IN (SELECT market_key FROM market_state WHERE is_placeholder) WHERE is_placeholder
  )
GROUP BY category_slug
