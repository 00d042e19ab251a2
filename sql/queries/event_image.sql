-- GET markets/id/{id}, ingestion: an image that a market of this event has
SELECT image_url FROM markets FINAL WHERE platform = {platform:String} AND event_id = {event_id:String} AND image_url != '' LIMIT 1
