-- GET events/{id}: the key of an event by its id, or by its slug if no id matches
WITH (SELECT count() FROM events WHERE platform = {platform:String} AND event_key = sipHash64({platform:String}, {id:String})) > 0 AS is_id
SELECT event_key FROM events FINAL WHERE platform = {platform:String} AND event_key = sipHash64({platform:String}, {id:String})
UNION ALL
SELECT event_key FROM events FINAL WHERE NOT is_id AND platform = {platform:String} AND slug = {id:String} LIMIT 1
