-- Lists of markets by the time of their resolution, as sql/postgres/009_present_prices.sql has those by price.
ALTER TABLE present_ranks
  -- Minus milliseconds, 0 where the platform has stated no result.
  ADD COLUMN by_resolved bigint NOT NULL DEFAULT 0;
CREATE INDEX present_ranks_resolved ON present_ranks (platform, hidden, status, by_resolved, key);

-- Former rows have the columns of present_ranks first: the table is made anew.
DROP TABLE present_ranks_were;
CREATE TABLE present_ranks_were (
  LIKE present_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_ranks_were_until ON present_ranks_were (platform, until);
CREATE INDEX present_ranks_were_replaced ON present_ranks_were (platform, replaced_at);

-- Markets are known by their condition ids too. Copying a market again names it only if its facts have changed, so the stored ones are
-- named here. The pattern reads the JSON text of the metadata, the last of the facts: an escaped zero character in a text of the market
-- would make PostgreSQL refuse the value as JSON.
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
