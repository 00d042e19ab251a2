-- PostgreSQL finds markets by words (present_searched): nothing reads these.
ALTER TABLE markets DROP INDEX IF EXISTS searched;
ALTER TABLE markets DROP COLUMN IF EXISTS search_words;
ALTER TABLE markets DROP COLUMN IF EXISTS search_title;
