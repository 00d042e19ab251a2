-- GET events/{id}: references of the markets of an event that PostgreSQL does not have yet
SELECT ref FROM markets FINAL
PREWHERE platform = {platform:String} AND market_key IN (
  SELECT market_key FROM event_markets WHERE platform = {platform:String} AND event_key = {event_key:UInt64}
)
