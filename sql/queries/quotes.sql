-- streams: the newest stored quote of each market that was written since an instant; a row priced by a trade keeps the times of its
-- listing, so that only FINAL shows which one came last
WITH written AS (
  SELECT DISTINCT platform, market_key FROM market_state WHERE written_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
)
SELECT w.platform AS platform, ref, platform_id, event_id, outcome_ids, prices, bids, asks, volume_total, synced_at,
  toUnixTimestamp64Milli(written_at) AS written_ms
FROM (
  SELECT platform, market_key, prices, bids, asks, volume_total, synced_at, written_at FROM market_state FINAL
  PREWHERE (platform, market_key) IN (SELECT platform, market_key FROM written)
) AS w
INNER JOIN (
  SELECT platform, market_key, ref, platform_id, event_id, outcome_ids FROM markets FINAL
  PREWHERE (platform, market_key) IN (SELECT platform, market_key FROM written)
) AS m USING (platform, market_key)
