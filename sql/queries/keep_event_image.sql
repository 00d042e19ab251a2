-- markets: gives the rows of {table}, markets or events, an image where their event has none; of two rows of one version the newest counts
INSERT INTO {table:Identifier}
SELECT * REPLACE ({image_url:String} AS image_url) FROM (
  SELECT * FROM {table:Identifier} FINAL WHERE platform = {platform:String} AND event_id = {event_id:String} AND image_url = ''
)
