-- ingestion: whether a platform's markets have been listed completely since its log was opened
SELECT count() > 0 AS known FROM (SELECT 1 FROM market_levels WHERE platform = {platform:String} AND market_key = 0 LIMIT 1)
