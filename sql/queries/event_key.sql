-- GET events/{id}: the key of an event by its id, or by its other name in addresses
SELECT event_key FROM events FINAL
WHERE platform = {platform:String} AND (event_key = sipHash64({platform:String}, {id:String}) OR slug = {id:String})
ORDER BY event_id = {id:String} DESC LIMIT 1
