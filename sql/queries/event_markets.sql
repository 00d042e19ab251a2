-- endpoints of one market, when the id is not a market's: the markets of the event it may name
SELECT platform_id FROM markets FINAL
WHERE platform = {platform:String} AND event_id = {id:String}
ORDER BY platform_id LIMIT 20
