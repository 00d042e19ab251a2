-- Lists of markets by the time of their resolution, like the lists by price in sql/postgres/009_present_prices.sql.
ALTER TABLE present_ranks
  -- Minus milliseconds, 0 where the platform has stated no result.
  ADD COLUMN by_resolved bigint NOT NULL DEFAULT 0;
CREATE INDEX present_ranks_resolved ON present_ranks (platform, hidden, status, by_resolved, key);

-- Lists of markets and events by liquidity_usd, which counts the best levels on every platform. liquidity is the platform's own figure.
ALTER TABLE present_ranks ADD COLUMN by_liquidity_usd bigint NOT NULL DEFAULT 1000000;
CREATE INDEX present_ranks_liquidity_usd ON present_ranks (platform, hidden, status, by_liquidity_usd, key);
ALTER TABLE present_event_ranks ADD COLUMN by_liquidity_usd bigint NOT NULL DEFAULT 1000000;
CREATE INDEX present_event_ranks_liquidity_usd ON present_event_ranks (platform, hidden, status, by_liquidity_usd, key);

-- The tables of former rows begin with the columns of the ranks, so they are created again.
DROP TABLE present_ranks_were;
CREATE TABLE present_ranks_were (
  LIKE present_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_ranks_were_until ON present_ranks_were (platform, until);
CREATE INDEX present_ranks_were_replaced ON present_ranks_were (platform, replaced_at);
DROP TABLE present_event_ranks_were;
CREATE TABLE present_event_ranks_were (
  LIKE present_event_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_event_ranks_were_until ON present_event_ranks_were (platform, until);
CREATE INDEX present_event_ranks_were_replaced ON present_event_ranks_were (platform, replaced_at);

-- Adds condition ids to the names of markets. A copy of a market stores names only if its facts have changed, so stored markets get theirs
-- here. The pattern reads the metadata, the last of the facts, as text: PostgreSQL refuses a value with an escaped NUL as JSON.
INSERT INTO present_names (platform, name, key, rank)
SELECT platform, name, key, 4
FROM (
  SELECT platform, key, lower(substring(info FROM ',"info_metadata":".*[{,]\\"condition_id\\":\\"(0x[0-9a-fA-F]+)\\"')) AS name
  FROM present_markets
) AS m
WHERE name IS NOT NULL
ON CONFLICT DO NOTHING;

-- All markets are copied again at the next start.
UPDATE present_platforms SET copied_to = NULL, former_from = version;
