CREATE OR REPLACE VIEW v_matches (
  id String COMMENT 'Id of the match as in the API',
  relation LowCardinality(String) COMMENT 'Of a to b: identical, complement, subset, superset, overlap, disjoint or unknown',
  kind LowCardinality(String) COMMENT 'Kind of the question: game, price, election and so on',
  a_market_key UInt64 COMMENT 'First market; joins to v_markets.market_key',
  a_platform LowCardinality(String) COMMENT 'Platform of the first market',
  a_category LowCardinality(String) COMMENT 'Slug of its category',
  b_market_key UInt64 COMMENT 'Second market; joins to v_markets.market_key',
  b_platform LowCardinality(String) COMMENT 'Platform of the second market',
  b_category LowCardinality(String) COMMENT 'Slug of its category',
  reasons String COMMENT 'JSON: the fields that were compared, with the words of both markets',
  rules_version UInt32 COMMENT 'Version of the rules that made the verdict',
  time DateTime64(3, 'UTC') COMMENT 'As checked_at',
  found_at DateTime64(3, 'UTC') COMMENT 'When the pair was found',
  checked_at DateTime64(3, 'UTC') COMMENT 'When the verdict was made'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT lower(leftPad(hex(m.match_key), 16, '0')) AS id, m.relation AS relation, m.kind AS kind, m.a_key AS a_market_key, m.a_platform AS a_platform,
  m.a_category AS a_category, m.b_key AS b_market_key, m.b_platform AS b_platform, m.b_category AS b_category, m.reasons AS reasons,
  m.rules_version AS rules_version, m.checked_at AS time, m.found_at AS found_at, m.checked_at AS checked_at
FROM matches AS m FINAL
WHERE NOT m.is_withdrawn
  AND (m.a_platform, m.a_key, m.a_texts) IN (
    SELECT platform, market_key, texts FROM market_questions FINAL WHERE (platform, market_key) IN (SELECT a_platform, a_key FROM matches)
  ) AND (m.b_platform, m.b_key, m.b_texts) IN (
    SELECT platform, market_key, texts FROM market_questions FINAL WHERE (platform, market_key) IN (SELECT b_platform, b_key FROM matches)
  )
COMMENT 'Pairs of markets of two platforms and how their questions relate, as both texts are now'
