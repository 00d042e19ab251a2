-- GET events with hidden markets, or of a list whose former order PostgreSQL no longer has: events by key, with sums over their markets at {at}. Markets that had ended a day before it have no volume of the last day
SELECT e.event_key AS event_key, e.event_id AS event_id, e.series_id AS series_id, e.title AS title, e.category AS category, e.tags AS tags,
  e.mutually_exclusive AS mutually_exclusive, e.image_url AS image_url, e.source_url AS source_url,
  status, markets_count, open_markets, volume_24h, volume_total, liquidity, trading_end_at,
  -- In the platform's order; unlisted markets follow by id, 9 before 10.
  arrayMap(x -> x.3, arraySort(arrayMap(x -> (if(indexOf(e.listed_ids, x.2) = 0, toUInt64(4294967295), indexOf(e.listed_ids, x.2)), x.1, x.2), found))) AS market_ids
FROM (
  SELECT event_key, event_id, series_id, title, category, tags, mutually_exclusive, image_url, source_url, market_ids AS listed_ids
  FROM events FINAL PREWHERE platform = {platform:String} AND event_key IN {keys:Array(UInt64)}
) AS e
INNER JOIN (
  SELECT event_key, count() AS markets_count, countIf(s.status = 'open') AS open_markets,
    multiIf(open_markets > 0, 'open', countIf(s.status = 'paused') > 0, 'paused', countIf(s.status = 'unopened') > 0, 'unopened',
      countIf(s.status = 'closed') > 0, 'closed', 'settled') AS status,
    if(count(s.volume_24h) = count(), toString(sum(toDecimal128(s.volume_24h, 6))), NULL) AS volume_24h,
    if(count(s.volume_total) = count(), toString(sum(toDecimal128(s.volume_total, 6))), NULL) AS volume_total,
    if(countIf(NOT s.liquidity_known) = 0, toNullable(toString(sum(toDecimal128(s.liquidity, 6)))), NULL) AS liquidity,
    if(count(s.trading_end_at) = count(), max(s.trading_end_at), NULL) AS trading_end_at,
    groupArray((length(b.platform_id), b.platform_id)) AS found
  FROM (
    SELECT event_key, market_key, platform_id FROM event_markets FINAL PREWHERE platform = {platform:String} AND event_key IN {keys:Array(UInt64)}
  ) AS b
  INNER JOIN (
    SELECT market_key, event_id, status,
      if(status IN ('closed', 'settled') AND synced_at <= {at:DateTime64(3, 'UTC')} - INTERVAL 1 DAY, toDecimal64(0, 6), volume_24h) AS volume_24h, volume_total, liquidity, liquidity_known, trading_end_at
    FROM market_state FINAL
    PREWHERE platform = {platform:String} AND market_key IN (
      SELECT market_key FROM event_markets WHERE platform = {platform:String} AND event_key IN {keys:Array(UInt64)}
    )
    WHERE ({include_placeholders:Bool} OR NOT is_placeholder) AND ({include_combos:Bool} OR NOT is_combo)
  ) AS s USING (market_key)
  WHERE sipHash64({platform:String}, s.event_id) = event_key
  GROUP BY event_key
) AS m USING (event_key)
