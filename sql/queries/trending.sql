-- GET analytics/trending: open markets by their change over the window, unknown changes last, then by volume in the window
SELECT platform, market_key, as_of, status, category, price, other_price, liquidity, liquidity_known, open_interest, volume_total, price_change_24h,
  ifNull(sold_24h, volume_24h) AS day_volume,
  if({window:String} = '24h', sold_24h, sold_7d) AS traded, if({window:String} = '24h', sold_24h_before, sold_7d_before) AS traded_before,
  if({window:String} = '24h', price_change_24h, price_change_7d) AS price_change,
  toFloat64(traded - traded_before) / nullIf(toFloat64(traded_before), 0) AS volume_rank,
  if(price > price_change, abs(toFloat64(price_change)) / toFloat64(price - price_change), NULL) AS price_rank
FROM market_windows
WHERE status = 'open' /* with platforms */ AND platform IN {platforms:Array(String)} /* end */
  /* with category */ AND category_slug = {category:String} /* end */
ORDER BY if({sort:String} = 'volume_change', volume_rank, price_rank) DESC NULLS LAST,
  ifNull(traded, if({window:String} = '24h', volume_24h, volume_7d)) DESC NULLS LAST, market_key
LIMIT {limit:UInt32}
