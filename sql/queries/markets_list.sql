-- GET markets: a page of market keys in the order asked for, as the listing was at {as_of}
-- Rows written since then are taken from their snapshots, so that pages of one listing neither repeat nor miss a market.
WITH
  current AS (
    SELECT market_key, status, category_slug, event_id, volume_24h, volume_total, liquidity, trading_end_at, created_at, first_seen_at, written_at
    FROM market_state FINAL WHERE platform = {platform:String}
  ),
  earlier AS (
    SELECT market_key, argMax(tuple(status, volume_24h, volume_total, liquidity, trading_end_at), at) AS was, 1 AS found
    FROM market_snapshots
    WHERE platform = {platform:String} AND written_at <= {as_of:DateTime64(3, 'UTC')} AND at >= {as_of:DateTime64(3, 'UTC')} - INTERVAL 1 DAY
      AND market_key IN (SELECT market_key FROM current WHERE written_at > {as_of:DateTime64(3, 'UTC')})
    GROUP BY market_key
  ),
  listing AS (
    SELECT c.market_key AS market_key,
      if(e.found = 1, e.was.1, c.status) AS status, c.category_slug AS category_slug, c.event_id AS event_id,
      toInt64(multiIf(
        {sort:String} = 'volume_24h', ifNull(if(e.found = 1, e.was.2, c.volume_24h), -1) * 1000000,
        {sort:String} = 'volume_total', ifNull(if(e.found = 1, e.was.3, c.volume_total), -1) * 1000000,
        {sort:String} = 'liquidity', if(e.found = 1, e.was.4, c.liquidity) * 1000000,
        {sort:String} = 'end_date', -toUnixTimestamp64Milli(ifNull(if(e.found = 1, e.was.5, c.trading_end_at), toDateTime64('2200-01-01 00:00:00', 3, 'UTC'))),
        toUnixTimestamp64Milli(ifNull(c.created_at, toDateTime64('1970-01-01 00:00:00', 3, 'UTC'))))) AS rank
    FROM current AS c LEFT JOIN earlier AS e USING (market_key)
    WHERE c.first_seen_at <= {as_of:DateTime64(3, 'UTC')}
      AND (c.written_at <= {as_of:DateTime64(3, 'UTC')} OR e.found = 1)
      AND ({category:String} = '' OR c.category_slug = {category:String})
      AND ({event_id:String} = '' OR c.event_id = {event_id:String})
      AND (empty({words:Array(String)}) OR c.market_key IN (
        SELECT market_key FROM markets FINAL
        WHERE platform = {platform:String} AND notEmpty({words:Array(String)}) AND hasAllTokens(search_text, {words:Array(String)})
      ))
  )
SELECT market_key, rank, if({want_total:Bool}, count() OVER (), 0) AS total
FROM listing
WHERE ({status:String} = '' OR status = {status:String})
  AND (rank < {after_rank:Int64} OR (rank = {after_rank:Int64} AND market_key > {after_key:UInt64}))
ORDER BY rank DESC, market_key
LIMIT {limit:UInt32}
SETTINGS use_top_k_dynamic_filtering = 0
