-- ingestion: figures from stored trades of markets about to be written (lists: platforms, references, when each was read in Unix ms, whether
-- its trades are read for it alone, whether its volume counts contracts, its total volume, '' if unknown): volume of the day and week before
-- the reading (null unless all trades of that time are stored), the newest price in terms of the first outcome, and in a feed of all markets
-- the price a week before: the last of the day up to then (null unless every trade since is stored)
-- A feed that ended over a quarter of an hour ago (as in sql/schema/012_windows.sql) has fallen behind; one with a gap is complete since the gap.
-- A market's own feed has fallen behind if it was last read over a quarter of an hour ago, and at another total.
WITH
  arrayMap((platform, ref) -> sipHash64(platform, ref), {platforms:Array(String)}, {refs:Array(String)}) AS keys,
  key -> fromUnixTimestamp64Milli(transform(key, keys, {at_ms:Array(Int64)}, toInt64(0)), 'UTC') AS read_at,
  fromUnixTimestamp64Milli(arrayMin({at_ms:Array(Int64)}), 'UTC') AS first_at,
  toDateTime64('2200-01-01 00:00:00', 6, 'UTC') AS never,
  -- These rows may be stored twice.
  doubled AS (SELECT market_key FROM doubled_markets WHERE market_key IN (SELECT arrayJoin(keys))),
  newest AS (SELECT market_key, max(last_trade_at) FROM market_totals WHERE market_key IN (SELECT arrayJoin(keys)) GROUP BY market_key),
  (
    SELECT mapFromArrays(groupArray(name), groupArray(ended))
    FROM (SELECT toString(platform) AS name, max(gap_to) AS ended FROM trade_gaps FINAL WHERE platform IN {platforms:Array(String)} AND filled = 0 GROUP BY name)
  ) AS gaps,
  (
    SELECT mapFromArrays(groupArray(toString(platform)), groupArray((complete_from, complete_to)))
    FROM trade_coverage FINAL WHERE platform IN {platforms:Array(String)} AND market_key = 0
  ) AS feeds,
  feeds[m.platform] AS feed,
  if(feed.2 >= m.at - INTERVAL 15 MINUTE, greatest(feed.1, gaps[m.platform]), never) AS feed_from,
  own.version >= m.at - INTERVAL 15 MINUTE OR (m.total != '' AND own.marker IN (m.total, concat(m.total, '?'))) AS own_is_read,
  multiIf(NOT m.own_feed, feed_from, own_is_read, own.complete_from, never) AS complete_from
SELECT m.platform AS of_platform, m.ref AS ref,
  if(complete_from <= m.at - INTERVAL 1 DAY, toNullable(if(m.in_contracts, t.day_size, t.day_usd)), NULL) AS day_traded,
  if(complete_from <= m.at - INTERVAL 7 DAY, toNullable(if(m.in_contracts, t.week_size, t.week_usd)), NULL) AS week_traded,
  if(t.priced > 0, toNullable(t.last_price), NULL) AS last_price,
  if(NOT m.own_feed AND t.week_priced_at >= greatest(complete_from, m.at - INTERVAL 8 DAY), toNullable(t.week_price), NULL) AS week_price
FROM (
  SELECT one.1 AS market_key, one.2 AS platform, one.3 AS ref, fromUnixTimestamp64Milli(one.4, 'UTC') AS at, one.5 AS own_feed, one.6 AS in_contracts,
    one.7 AS total
  FROM (
    SELECT arrayJoin(arrayZip(
      keys, {platforms:Array(String)}, {refs:Array(String)}, {at_ms:Array(Int64)}, {own_feeds:Array(Bool)}, {in_contracts:Array(Bool)},
      {totals:Array(String)}
    )) AS one
  )
) AS m
LEFT JOIN (
  SELECT market_key, marker, complete_from, version FROM trade_coverage FINAL
  WHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
) AS own USING (market_key)
LEFT JOIN (
  SELECT market_key, countIf(NOT is_block) AS priced, argMaxIf(series_price, (executed_at, trade_order), NOT is_block) AS last_price,
    sumIf(size, executed_at >= day_ago) AS day_size, sumIf(size, executed_at >= week_ago) AS week_size,
    sumIf(usd, executed_at >= day_ago) AS day_usd, sumIf(usd, executed_at >= week_ago) AS week_usd,
    argMaxIf(series_price, (executed_at, trade_order), NOT is_block AND executed_at <= week_ago) AS week_price,
    maxIf(executed_at, NOT is_block AND executed_at <= week_ago) AS week_priced_at
  FROM (
    SELECT market_key, is_block, series_price, executed_at, trade_order, size, usd,
      read_at(market_key) - INTERVAL 1 DAY AS day_ago, read_at(market_key) - INTERVAL 7 DAY AS week_ago
    FROM (
      SELECT market_key, is_block, series_price, executed_at, trade_order, size, ifNull(quote_usd, notional) AS usd FROM trades
      WHERE market_key IN (SELECT arrayJoin(keys)) AND market_key NOT IN doubled AND (executed_at >= first_at - INTERVAL 8 DAY OR (market_key, executed_at) IN newest)
      UNION ALL
      SELECT market_key, is_block, series_price, executed_at, trade_order, size, ifNull(quote_usd, notional) FROM trades FINAL
      WHERE market_key IN doubled AND (executed_at >= first_at - INTERVAL 8 DAY OR (market_key, executed_at) IN newest)
    )
  )
  GROUP BY market_key
) AS t USING (market_key)
