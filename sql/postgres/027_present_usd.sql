-- Volumes in USD of lists, as 003 has those of the platforms.
ALTER TABLE present_ranks
  ADD COLUMN by_volume_24h_usd bigint NOT NULL DEFAULT 1000000,
  ADD COLUMN by_volume_7d_usd bigint NOT NULL DEFAULT 1000000,
  ADD COLUMN by_volume_total_usd bigint NOT NULL DEFAULT 1000000,
  -- From when on a market that is over has traded nothing for a week; null if its volume needs no change then.
  ADD COLUMN stale_week_at timestamptz;
CREATE INDEX present_ranks_volume_24h_usd ON present_ranks (platform, hidden, status, by_volume_24h_usd, key);
CREATE INDEX present_ranks_volume_7d_usd ON present_ranks (platform, hidden, status, by_volume_7d_usd, key);
CREATE INDEX present_ranks_volume_total_usd ON present_ranks (platform, hidden, status, by_volume_total_usd, key);
CREATE INDEX present_ranks_stale_week ON present_ranks (platform, stale_week_at) WHERE stale_week_at IS NOT NULL;

-- Columns of both tables stand in the same order: former rows are inserted as they were.
DROP TABLE present_ranks_were;
CREATE TABLE present_ranks_were (
  LIKE present_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_ranks_were_until ON present_ranks_were (platform, until);
CREATE INDEX present_ranks_were_replaced ON present_ranks_were (platform, replaced_at);
UPDATE present_platforms SET former_from = version + 1, version = version + 1, copied_to = NULL;

-- All markets are copied anew.
TRUNCATE present_markets, present_names, present_states;
