-- Words of titles are kept apart, so that a query finds those that begin with its words, or differ from one by a typo.
-- Every word of a title, with the time of the first title that had it: pages of one listing go by the same words.
CREATE TABLE IF NOT EXISTS search_vocabulary (
  platform LowCardinality(String),
  kind LowCardinality(String),
  word String CODEC(ZSTD(1)),
  seen_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')) CODEC(ZSTD(1))
) ENGINE = AggregatingMergeTree ORDER BY (platform, kind, word);

CREATE MATERIALIZED VIEW IF NOT EXISTS search_vocabulary_markets_mv TO search_vocabulary AS
SELECT platform, 'market' AS kind, arrayJoin(splitByChar(' ', trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')))) AS word, min(first_seen_at) AS seen_at
FROM markets WHERE title != '' GROUP BY platform, word;

CREATE MATERIALIZED VIEW IF NOT EXISTS search_vocabulary_events_mv TO search_vocabulary AS
SELECT platform, 'event' AS kind, arrayJoin(splitByChar(' ', trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')))) AS word, min(version) AS seen_at
FROM events WHERE title != '' GROUP BY platform, word;

CREATE MATERIALIZED VIEW IF NOT EXISTS search_vocabulary_series_mv TO search_vocabulary AS
SELECT platform, 'series' AS kind, arrayJoin(splitByChar(' ', trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')))) AS word, min(version) AS seen_at
FROM series WHERE title != '' GROUP BY platform, word;
