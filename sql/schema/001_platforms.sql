-- What SQL must know of each platform: a row for each of PLATFORMS, from its manifest. A test compares the two.
CREATE TABLE IF NOT EXISTS platforms (
  platform LowCardinality(String),
  -- What the platform's volumes count.
  volume_basis Enum8('contracts' = 1, 'usd' = 2),
  -- Whether some of its markets are pools, whose trades no feed brings.
  has_pools Bool
) ENGINE = ReplacingMergeTree ORDER BY platform;

INSERT INTO platforms (platform, volume_basis, has_pools) VALUES ('kalshi', 'contracts', false), ('polymarket', 'usd', false), ('limitless', 'usd', true);
