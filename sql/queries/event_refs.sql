-- present: references of an event's markets
SELECT ref FROM markets FINAL WHERE platform = {platform:String} AND event_id = {event_id:String}
