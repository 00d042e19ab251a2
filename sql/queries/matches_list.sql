-- GET matches, GET matches/{id}: a page of the verdicts that hold, newest pairs first, with the number of all that follow its beginning
-- A verdict holds while both markets still ask what they asked when it was made. The pairs of a market are looked up by their keys first: FINAL
-- would read all pairs otherwise. Reasons are read of the page alone.
WITH
  of_keys AS (
    SELECT a_key, b_key FROM matches WHERE a_key IN {keys:Array(UInt64)}
    UNION ALL
    SELECT a_key, b_key FROM matches WHERE b_key IN {keys:Array(UInt64)}
    UNION ALL
    SELECT a_key, b_key FROM matches WHERE match_key IN {ids:Array(UInt64)}
  ),
  found AS (
    SELECT match_key, a_platform, a_key, a_texts, b_platform, b_key, b_texts, found_at
    FROM matches FINAL
    WHERE NOT is_withdrawn
      AND ((empty({keys:Array(UInt64)}) AND empty({ids:Array(UInt64)})) OR (a_key, b_key) IN (SELECT a_key, b_key FROM of_keys))
      AND (empty({relations:Array(String)}) OR relation IN {relations:Array(String)})
      AND ({platform:String} = '' OR a_platform = {platform:String} OR b_platform = {platform:String})
      AND (empty({events:Array(Tuple(String, String))}) OR (a_platform, a_event_id) IN {events:Array(Tuple(String, String))}
        OR (b_platform, b_event_id) IN {events:Array(Tuple(String, String))})
      AND ({category:String} = '' OR a_category = {category:String} OR b_category = {category:String})
      AND (found_at, match_key) < ({before:DateTime64(3, 'UTC')}, {before_key:UInt64})
  ),
  questions AS (
    SELECT platform, market_key, texts FROM market_questions FINAL
    WHERE (platform, market_key) IN (SELECT arrayJoin([(a_platform, a_key), (b_platform, b_key)]) FROM found)
  ),
  page AS (
    SELECT a_key, b_key, count() OVER () AS total
    FROM found
    WHERE (a_platform, a_key, a_texts) IN (SELECT * FROM questions) AND (b_platform, b_key, b_texts) IN (SELECT * FROM questions)
    ORDER BY found_at DESC, match_key DESC
    LIMIT {limit:UInt32}
  )
SELECT match_key, a_platform, a_key, b_platform, b_key, relation, kind, reasons, rules_version, found_at, checked_at, total
FROM page
INNER JOIN (
  SELECT match_key, a_platform, a_key, b_platform, b_key, relation, kind, reasons, rules_version, found_at, checked_at
  FROM matches FINAL WHERE (a_key, b_key) IN (SELECT a_key, b_key FROM page)
) AS m USING (a_key, b_key)
ORDER BY found_at DESC, match_key DESC
