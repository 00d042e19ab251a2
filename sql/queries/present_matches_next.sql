-- present: pairs whose first market is of a platform after a pair, in the order of keys
SELECT a_key, b_key FROM matches FINAL
WHERE a_platform = {platform:String} AND (a_key, b_key) > ({after_a:UInt64}, {after_b:UInt64})
ORDER BY a_key, b_key LIMIT {limit:UInt32}
