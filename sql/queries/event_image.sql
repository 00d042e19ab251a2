-- GET markets/id/{id}, ingestion: the image of any market of this event
SELECT image_url FROM markets FINAL WHERE platform = {platform:String} AND event_id = {event_id:String} AND image_url != '' LIMIT 1
