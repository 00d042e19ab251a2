-- ingestion: ids of the newest stored trades of a platform
SELECT trade_id, toUnixTimestamp64Micro(executed_at) AS at_us FROM trades
WHERE platform = {platform:String} AND executed_at >= {floor:DateTime64(6)}
ORDER BY executed_at DESC LIMIT {limit:UInt32}
