-- GET analytics/categories: markets by category; volumes of all of them, liquidity and spread of the open ones
SELECT category_slug AS slug, max(category) AS name, max(as_of) AS as_of,
  countIf(status = 'open') AS active, count() AS total,
  sumOrNull(volume_24h) AS volume_24h, sumOrNull(volume_7d) AS volume_7d, sumOrNull(volume_30d) AS volume_30d, sumOrNull(volume_total) AS volume_total,
  sumIf(liquidity, status = 'open') AS liquidity,
  sumIf(spread, status = 'open' AND isNotNull(spread)) AS spreads, countIf(status = 'open' AND isNotNull(spread)) AS two_sided,
  sumOrNull(w.volume_24h_usd) AS volume_24h_usd, sumOrNull(w.volume_7d_usd) AS volume_7d_usd, sumOrNull(w.volume_total_usd) AS volume_total_usd,
  sumOrNull(w.liquidity_usd) AS liquidity_usd,
  [count(w.volume_24h_usd), count(w.volume_7d_usd), count(w.volume_total_usd), count(w.liquidity_usd)] AS usd_markets,
  groupUniqArray(toString(platform)) AS platforms
FROM market_windows AS w
/* with platforms */ WHERE platform IN {platforms:Array(String)} /* end */
GROUP BY category_slug
