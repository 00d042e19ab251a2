-- Keeps former rows and present_event_searched, whoever changes ranks of events. Its platform's row is locked then.
CREATE OR REPLACE FUNCTION present_event_ranks_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO present_event_ranks_were SELECT f.*, p.version, now() FROM former AS f JOIN present_platforms AS p USING (platform);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE present_event_searched AS t SET hidden = c.hidden, status = c.status, category_slug = c.category_slug, by_end_date = c.by_end_date
    FROM current AS c WHERE t.key = c.key
      AND (t.hidden, t.status, t.category_slug, t.by_end_date) IS DISTINCT FROM (c.hidden, c.status, c.category_slug, c.by_end_date);
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER present_event_ranks_inserted AFTER INSERT ON present_event_ranks
  REFERENCING NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_event_ranks_changed();
CREATE OR REPLACE TRIGGER present_event_ranks_updated AFTER UPDATE ON present_event_ranks
  REFERENCING OLD TABLE AS former NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_event_ranks_changed();
CREATE OR REPLACE TRIGGER present_event_ranks_deleted AFTER DELETE ON present_event_ranks
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION present_event_ranks_changed();
