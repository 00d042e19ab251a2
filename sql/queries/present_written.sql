-- present: markets written since an instant, and the times by which a copy is compared; facts without their state were cut off by a kill
WITH touched AS (
  SELECT market_key FROM market_state WHERE platform = {platform:String} AND written_at >= {since:DateTime64(3, 'UTC')}
  UNION DISTINCT
  SELECT market_key FROM markets WHERE platform = {platform:String} AND version >= {since:DateTime64(3, 'UTC')}
)
SELECT ref, reinterpretAsInt64(bitXor(market_key, 9223372036854775808)) AS key, written_at, info_version
FROM (
  SELECT market_key, ref, version AS info_version FROM markets FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM touched)
) AS m
INNER JOIN (
  SELECT market_key, written_at FROM market_state FINAL PREWHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM touched)
) AS s USING (market_key)
