-- GET matches, GET matches/{id}: a page of the verdicts that hold, newest pairs first, with the number of all that follow its beginning
-- A verdict holds while both markets still ask what they asked when it was made.
WITH found AS (
  SELECT match_key, a_platform, a_key, a_texts, b_platform, b_key, b_texts, relation, kind, reasons, rules_version, found_at, checked_at
  FROM matches FINAL
  WHERE NOT is_withdrawn
    AND (empty({ids:Array(UInt64)}) OR match_key IN {ids:Array(UInt64)})
    AND (empty({keys:Array(UInt64)}) OR a_key IN {keys:Array(UInt64)} OR b_key IN {keys:Array(UInt64)})
    AND (empty({relations:Array(String)}) OR relation IN {relations:Array(String)})
    AND ({platform:String} = '' OR a_platform = {platform:String} OR b_platform = {platform:String})
    AND (empty({events:Array(Tuple(String, String))}) OR (a_platform, a_event_id) IN {events:Array(Tuple(String, String))}
      OR (b_platform, b_event_id) IN {events:Array(Tuple(String, String))})
    AND ({category:String} = '' OR a_category = {category:String} OR b_category = {category:String})
    AND (found_at, match_key) < ({before:DateTime64(3, 'UTC')}, {before_key:UInt64})
)
SELECT match_key, a_platform, a_key, b_platform, b_key, relation, kind, reasons, rules_version, found_at, checked_at, count() OVER () AS total
FROM found
WHERE (a_platform, a_key, a_texts) IN (
    SELECT platform, market_key, texts FROM market_questions FINAL WHERE (platform, market_key) IN (SELECT a_platform, a_key FROM found)
  ) AND (b_platform, b_key, b_texts) IN (
    SELECT platform, market_key, texts FROM market_questions FINAL WHERE (platform, market_key) IN (SELECT b_platform, b_key FROM found)
  )
ORDER BY found_at DESC, match_key DESC
LIMIT {limit:UInt32}
