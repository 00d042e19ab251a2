-- Searches fold accents and case of stored texts and of queries alike (src/core/search-text.ts). Words of titles are kept apart, so that
-- a query finds those that begin with its words, or differ from one by a typo.
-- Folded here: with a preprocessor of the text index ORDER BY … LIMIT drops rows without an error.
ALTER TABLE markets ADD COLUMN IF NOT EXISTS search_title String MATERIALIZED trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')) CODEC(ZSTD(1));
ALTER TABLE markets ADD COLUMN IF NOT EXISTS search_words String MATERIALIZED concat(search_title, ' ', trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(description)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' '))) CODEC(ZSTD(1));
ALTER TABLE markets ADD INDEX IF NOT EXISTS searched search_words TYPE text(tokenizer = 'splitByNonAlpha');
ALTER TABLE events ADD COLUMN IF NOT EXISTS search_title String MATERIALIZED trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')) CODEC(ZSTD(1));
ALTER TABLE series ADD COLUMN IF NOT EXISTS search_title String MATERIALIZED trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')) CODEC(ZSTD(1));

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

-- Of a store that was filled before: what is written meanwhile is inserted twice and merged.
INSERT INTO search_vocabulary
SELECT platform, 'market' AS kind, arrayJoin(splitByChar(' ', search_title)) AS word, min(first_seen_at) AS seen_at
FROM markets WHERE title != '' GROUP BY platform, word;

INSERT INTO search_vocabulary
SELECT platform, 'event' AS kind, arrayJoin(splitByChar(' ', search_title)) AS word, min(version) AS seen_at
FROM events WHERE title != '' GROUP BY platform, word;

INSERT INTO search_vocabulary
SELECT platform, 'series' AS kind, arrayJoin(splitByChar(' ', search_title)) AS word, min(version) AS seen_at
FROM series WHERE title != '' GROUP BY platform, word;

-- Until these are done, stored rows are folded when they are read.
ALTER TABLE markets MATERIALIZE COLUMN search_title SETTINGS mutations_sync = 0;
ALTER TABLE markets MATERIALIZE COLUMN search_words SETTINGS mutations_sync = 0;
ALTER TABLE markets MATERIALIZE INDEX searched SETTINGS mutations_sync = 0;
ALTER TABLE events MATERIALIZE COLUMN search_title SETTINGS mutations_sync = 0;
ALTER TABLE series MATERIALIZE COLUMN search_title SETTINGS mutations_sync = 0;

-- Replaced by the columns above.
ALTER TABLE markets DROP INDEX IF EXISTS search SETTINGS alter_sync = 0;
ALTER TABLE markets DROP COLUMN IF EXISTS search_text SETTINGS alter_sync = 0;
ALTER TABLE events DROP COLUMN IF EXISTS search_text SETTINGS alter_sync = 0;
ALTER TABLE series DROP COLUMN IF EXISTS search_text SETTINGS alter_sync = 0;
