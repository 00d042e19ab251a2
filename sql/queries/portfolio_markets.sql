-- GET profile/trades, GET profile/positions: stored facts of the markets that a user traded or holds
SELECT m.ref AS ref, m.platform_id AS platform_id, m.title AS title, m.outcome_ids AS outcome_ids, m.outcome_names AS outcome_names,
  m.token_ids AS token_ids, s.status AS status, s.prices AS prices
FROM (
  SELECT market_key, ref, platform_id, title, outcome_ids, outcome_names, token_ids FROM markets FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
) AS m
INNER JOIN (
  SELECT market_key, status, prices FROM market_state FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
) AS s USING (market_key)
