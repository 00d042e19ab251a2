-- Lists of markets by price, spread and change of the price in a day, as sql/postgres/003_present.sql has the others. Units of 10^-10; what
-- is not known comes after all that is.
ALTER TABLE present_ranks
  -- Minus the price of the first outcome.
  ADD COLUMN by_price bigint NOT NULL DEFAULT 20000000000,
  ADD COLUMN by_spread bigint NOT NULL DEFAULT 20000000000,
  -- Minus the change of that price.
  ADD COLUMN by_change_24h bigint NOT NULL DEFAULT 20000000000;
CREATE INDEX present_ranks_price ON present_ranks (platform, hidden, status, by_price, key);
CREATE INDEX present_ranks_spread ON present_ranks (platform, hidden, status, by_spread, key);
CREATE INDEX present_ranks_change_24h ON present_ranks (platform, hidden, status, by_change_24h, key);

-- Former rows have the columns of present_ranks first: the table is made anew.
DROP TABLE present_ranks_were;
CREATE TABLE present_ranks_were (
  LIKE present_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_ranks_were_until ON present_ranks_were (platform, until);
CREATE INDEX present_ranks_were_replaced ON present_ranks_were (platform, replaced_at);

-- All markets are copied again at the next start.
UPDATE present_platforms SET copied_to = NULL, former_from = version;
