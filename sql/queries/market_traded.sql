-- ingestion: figures from stored trades of markets about to be written: volume of the last day and week (null unless all trades of that
-- time are stored) and the newest price in terms of the first outcome
-- A feed that ended over a quarter of an hour ago (as in 007_windows.sql) has fallen behind; one with a gap is complete since the gap.
WITH
  arrayMap(r -> sipHash64({platform:String}, r), {refs:Array(String)}) AS keys,
  {at:DateTime64(3, 'UTC')} - INTERVAL 1 DAY AS day_ago,
  {at:DateTime64(3, 'UTC')} - INTERVAL 7 DAY AS week_ago,
  toDateTime64('2200-01-01 00:00:00', 6, 'UTC') AS never,
  (SELECT max(gap_to) FROM trade_gaps FINAL WHERE platform = {platform:String} AND filled = 0) AS gap_to,
  ifNull((
    SELECT greatest(complete_from, gap_to) FROM trade_coverage FINAL
    WHERE platform = {platform:String} AND market_key = 0 AND complete_to >= {at:DateTime64(3, 'UTC')} - INTERVAL 15 MINUTE
  ), never) AS feed_from,
  if({own_feed:Bool}, if(own.marker != '', own.complete_from, never), feed_from) AS complete_from
SELECT transform(m.market_key, keys, {refs:Array(String)}, '') AS ref,
  if(complete_from <= day_ago, toNullable(t.day_sold), NULL) AS day_sold,
  if(complete_from <= week_ago, toNullable(t.week_sold), NULL) AS week_sold,
  if(t.priced > 0, toNullable(t.last_price), NULL) AS last_price
FROM (SELECT arrayJoin(keys) AS market_key) AS m
LEFT JOIN (
  SELECT market_key, marker, complete_from FROM trade_coverage FINAL
  WHERE platform = {platform:String} AND market_key IN (SELECT arrayJoin(keys))
) AS own USING (market_key)
LEFT JOIN (
  SELECT market_key, countIf(NOT is_block) AS priced,
    argMaxIf(series_price, (executed_at, trade_order), NOT is_block) AS last_price,
    sumIf(if({in_contracts:Bool}, size, ifNull(quote_usd, notional)), executed_at >= day_ago) AS day_sold,
    sumIf(if({in_contracts:Bool}, size, ifNull(quote_usd, notional)), executed_at >= week_ago) AS week_sold
  FROM trades
  WHERE market_key IN (SELECT arrayJoin(keys)) AND (executed_at >= week_ago OR (market_key, executed_at) IN (
    SELECT market_key, max(last_trade_at) FROM market_totals WHERE market_key IN (SELECT arrayJoin(keys)) GROUP BY market_key
  ))
  GROUP BY market_key
) AS t USING (market_key)
