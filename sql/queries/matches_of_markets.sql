-- ingestion: verdicts on these markets that were not withdrawn
SELECT a_platform, a_key, a_texts, a_event_id, a_category, b_platform, b_key, b_texts, b_event_id, b_category, relation, kind, rules_version, found_at
FROM matches FINAL
WHERE NOT is_withdrawn AND (a_key IN {keys:Array(UInt64)} OR b_key IN {keys:Array(UInt64)})
