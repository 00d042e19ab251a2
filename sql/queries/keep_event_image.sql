-- markets: sets the image in rows of {table}, markets or events, of events without one; for rows of the same version the newest counts
INSERT INTO {table:Identifier}
SELECT * REPLACE ({image_url:String} AS image_url) FROM (
  SELECT * FROM {table:Identifier} FINAL WHERE platform = {platform:String} AND event_id = {event_id:String} AND image_url = ''
)
