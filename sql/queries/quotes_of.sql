-- streams: the newest stored quote of each of some markets
WITH newest AS (
  SELECT platform, market_key, prices, bids, asks, volume_total, synced_at, written_at FROM market_state
  WHERE platform = {platform:String} AND market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
  ORDER BY synced_at DESC, written_at DESC LIMIT 1 BY platform, market_key
)
SELECT n.platform AS platform, ref, platform_id, event_id, outcome_ids, prices, bids, asks, volume_total, synced_at,
  toUnixTimestamp64Milli(written_at) AS written_ms
FROM newest AS n
INNER JOIN (
  SELECT platform, market_key, ref, platform_id, event_id, outcome_ids FROM markets FINAL
  WHERE platform = {platform:String} AND market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
) AS m USING (platform, market_key)
