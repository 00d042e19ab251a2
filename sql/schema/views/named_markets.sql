-- The names that the dictionary market_names loads. It compares `version` with a time as text, which has the zone of the server.
CREATE OR REPLACE VIEW named_markets AS
SELECT market_key, platform_id AS market_id, title, fromUnixTimestamp64Milli(toUnixTimestamp64Milli(m.version)) AS version
FROM markets AS m FINAL;
