-- markets: prices these markets (two lists: platforms and references) by their newest stored trade; for rows of the same version the one inserted last counts
INSERT INTO market_state
WITH
  arrayMap((platform, ref) -> sipHash64(platform, ref), {platforms:Array(String)}, {refs:Array(String)}) AS keys,
  (SELECT min(synced_at) FROM market_state WHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))) AS oldest
SELECT s.* REPLACE (
  [toNullable(last_price), toNullable(toDecimal64(1, 10) - last_price)] AS prices,
  price_change_24h + (last_price - prices[1]) AS price_change_24h,
  price_change_7d + (last_price - prices[1]) AS price_change_7d
)
FROM (
  SELECT * FROM market_state FINAL
  PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
  WHERE status IN ('open', 'paused', 'closed') AND length(prices) = 2
) AS s
INNER JOIN (
  SELECT market_key, max(executed_at) AS last_at, argMax(series_price, (executed_at, trade_order)) AS last_price
  FROM trades
  WHERE market_key IN (SELECT arrayJoin(keys)) AND NOT is_block AND (executed_at > oldest OR (market_key, executed_at) IN (
    SELECT market_key, max(last_trade_at) FROM market_totals WHERE market_key IN (SELECT arrayJoin(keys)) GROUP BY market_key
  ))
  GROUP BY market_key
) AS t USING (market_key)
WHERE (platform NOT IN {listed:Array(String)} OR last_at > synced_at) AND ifNull(s.prices[1] != last_price, true)
