-- GET events/{id}: the key of an event by its id, or by its other name in addresses, which is looked for only where no id matches
WITH (SELECT count() FROM events WHERE platform = {platform:String} AND event_key = sipHash64({platform:String}, {id:String})) > 0 AS is_id
SELECT event_key FROM events FINAL WHERE platform = {platform:String} AND event_key = sipHash64({platform:String}, {id:String})
UNION ALL
SELECT event_key FROM events FINAL WHERE NOT is_id AND platform = {platform:String} AND slug = {id:String} LIMIT 1
