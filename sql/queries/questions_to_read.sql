-- ingestion: open markets of a platform whose texts, as they are now, were not read and judged by these rules
SELECT market_key, texts
FROM (SELECT market_key, texts FROM market_questions FINAL PREWHERE platform = {platform:String}) AS q
INNER JOIN (
  SELECT market_key FROM market_state FINAL PREWHERE platform = {platform:String}
  WHERE status IN ('unopened', 'open', 'paused') AND NOT is_placeholder AND NOT is_combo
) AS s USING (market_key)
WHERE (market_key, texts) NOT IN (
  SELECT market_key, texts FROM market_facts FINAL WHERE platform = {platform:String} AND rules_version = {rules:UInt32} AND is_judged
)
ORDER BY market_key
LIMIT {limit:UInt32}
