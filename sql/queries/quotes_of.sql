-- streams: the newest stored quote of each of some markets; a row priced by a trade keeps the times of its listing, so that only FINAL
-- shows which one came last
SELECT n.platform AS platform, ref, platform_id, event_id, outcome_ids, prices, bids, asks, volume_total, synced_at,
  toUnixTimestamp64Milli(written_at) AS written_ms
FROM (
  SELECT platform, market_key, prices, bids, asks, volume_total, synced_at, written_at FROM market_state FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
) AS n
INNER JOIN (
  SELECT platform, market_key, ref, platform_id, event_id, outcome_ids FROM markets FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
) AS m USING (platform, market_key)
