-- present: verdicts on pairs of markets as they are copied to PostgreSQL, by the keys of both markets
WITH 9223372036854775808 AS sign
SELECT reinterpretAsInt64(bitXor(a_key, sign)) AS own_a_key, reinterpretAsInt64(bitXor(b_key, sign)) AS own_b_key,
  reinterpretAsInt64(bitXor(match_key, sign)) AS own_match_key, a_platform, reinterpretAsInt64(a_texts) AS own_a_texts, a_event_id, a_category,
  b_platform, reinterpretAsInt64(b_texts) AS own_b_texts, b_event_id, b_category, relation, kind, reasons, rules_version, is_withdrawn, found_at, checked_at
FROM matches FINAL
WHERE (a_key, b_key) IN {pairs:Array(Tuple(UInt64, UInt64))}
