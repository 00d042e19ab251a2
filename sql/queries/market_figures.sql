-- GET metrics/snapshot: the platform's figures of one market, its totals a month and a year before {at} from our snapshots, and
-- the end of the newest gap in the platform's feed
WITH
  sipHash64({platform:String}, {ref:String}) AS key,
  {at:DateTime64(3, 'UTC')} - toIntervalDay(30) AS month, {at:DateTime64(3, 'UTC')} - toIntervalDay(365) AS year
SELECT m.title AS title, s.status AS status, s.synced_at AS last_synced_at, s.prices AS prices, s.bids AS bids, s.asks AS asks,
  s.volume_24h AS volume_24h, s.volume_7d AS volume_7d, s.volume_30d AS volume_30d, s.volume_1y AS volume_1y, s.volume_total AS volume_total,
  s.liquidity AS liquidity, s.open_interest AS open_interest,
  m.created_at AS created_at, m.trading_start_at AS trading_start_at, m.metadata AS info_metadata, s.metadata AS state_metadata,
  (SELECT argMaxOrNull(volume_total, at) FROM market_snapshots WHERE market_key = key AND at <= month AND at >= month - toIntervalHour(6)) AS total_30d_ago,
  (SELECT argMaxOrNull(volume_total, at) FROM market_snapshots WHERE market_key = key AND at <= year AND at >= year - toIntervalHour(6)) AS total_1y_ago,
  (SELECT toUnixTimestamp64Micro(max(gap_to)) FROM trade_gaps FINAL WHERE platform = {platform:String} AND filled = 0) AS gap_to_us
FROM (
  SELECT market_key, title, created_at, trading_start_at, metadata
  FROM markets FINAL PREWHERE platform = {platform:String} AND market_key = key
) AS m
INNER JOIN (
  SELECT market_key, status, synced_at, prices, bids, asks, volume_24h, volume_7d, volume_30d, volume_1y, volume_total, liquidity, open_interest, metadata
  FROM market_state FINAL PREWHERE platform = {platform:String} AND market_key = key
) AS s USING (market_key)
