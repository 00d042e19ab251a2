-- Markets whose book was not read have the place of an empty one: a list from the smallest liquidity reads them by themselves, last.
CREATE INDEX present_ranks_unread ON present_ranks (platform, hidden, status, by_liquidity, key) WHERE NOT liquidity_known;
