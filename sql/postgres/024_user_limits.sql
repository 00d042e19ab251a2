-- The limit that the operator gave one user, in place of that of the tier.
ALTER TABLE users
  ADD COLUMN requests_per_minute integer CHECK (requests_per_minute BETWEEN 1 AND 1000000); -- null = the tier's
