-- ingestion: number of trades of a platform that were stored since {since}
SELECT count() AS trades FROM trades WHERE platform = {platform:String} AND ingested_at >= {since:DateTime64(3)}
