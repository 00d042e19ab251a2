-- Keeps former rows, the counts and present_searched, whoever changes ranks. Its platform's row is locked then.
CREATE OR REPLACE FUNCTION present_ranks_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO present_ranks_were SELECT f.*, p.version, now() FROM former AS f JOIN present_platforms AS p USING (platform);
  END IF;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO present_counts AS c
    SELECT platform, hidden, status, category_slug, count(*) FROM current GROUP BY 1, 2, 3, 4
    ON CONFLICT (platform, hidden, status, category_slug) DO UPDATE SET markets = c.markets + excluded.markets;
    UPDATE present_searched AS t SET hidden = c.hidden, status = c.status, category_slug = c.category_slug, by_end_date = c.by_end_date
    FROM current AS c WHERE t.key = c.key;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO present_counts AS c
    SELECT platform, hidden, status, category_slug, -count(*) FROM former GROUP BY 1, 2, 3, 4
    ON CONFLICT (platform, hidden, status, category_slug) DO UPDATE SET markets = c.markets + excluded.markets;
  ELSE
    INSERT INTO present_counts AS c
    SELECT platform, hidden, status, category_slug, sum(n) FROM (
      SELECT platform, hidden, status, category_slug, -1 AS n FROM former
      UNION ALL
      SELECT platform, hidden, status, category_slug, 1 FROM current
    ) AS moved
    GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0
    ON CONFLICT (platform, hidden, status, category_slug) DO UPDATE SET markets = c.markets + excluded.markets;
    UPDATE present_searched AS t SET hidden = c.hidden, status = c.status, category_slug = c.category_slug, by_end_date = c.by_end_date
    FROM current AS c JOIN former AS f USING (key) WHERE t.key = c.key
      AND (f.hidden, f.status, f.category_slug, f.by_end_date) IS DISTINCT FROM (c.hidden, c.status, c.category_slug, c.by_end_date);
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER present_ranks_inserted AFTER INSERT ON present_ranks
  REFERENCING NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_ranks_changed();
CREATE OR REPLACE TRIGGER present_ranks_updated AFTER UPDATE ON present_ranks
  REFERENCING OLD TABLE AS former NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_ranks_changed();
CREATE OR REPLACE TRIGGER present_ranks_deleted AFTER DELETE ON present_ranks
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION present_ranks_changed();
