-- The relation before this verdict, as streams send it: '' of a new pair. Verdicts that no event was sent of are found by their time.
ALTER TABLE matches ADD COLUMN IF NOT EXISTS previous_relation LowCardinality(String) AFTER relation;
ALTER TABLE matches ADD INDEX IF NOT EXISTS checked checked_at TYPE minmax GRANULARITY 1;
