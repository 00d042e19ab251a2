-- present: spans of feeds written since an instant, as they are copied to PostgreSQL
SELECT reinterpretAsInt64(bitXor(market_key, 9223372036854775808)) AS key, toUnixTimestamp64Micro(complete_from) AS from_us,
  toUnixTimestamp64Micro(complete_to) AS to_us, marker, toUnixTimestamp64Micro(version) AS version_us
FROM trade_coverage FINAL
WHERE platform = {platform:String} AND version >= {since:DateTime64(3, 'UTC')}
