-- Whether two words differ by one letter: inserted, left out, replaced, or swapped with its neighbour (as isOneTypo of src/core/search-text.ts).
CREATE OR REPLACE FUNCTION is_one_typo(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  short text := CASE WHEN length(a) <= length(b) THEN a ELSE b END;
  long  text := CASE WHEN length(a) <= length(b) THEN b ELSE a END;
  at    int  := 1;
BEGIN
  WHILE at <= length(short) AND substr(short, at, 1) = substr(long, at, 1) LOOP at := at + 1; END LOOP;
  IF length(long) = length(short) + 1 THEN RETURN substr(short, at) = substr(long, at + 1); END IF;
  IF length(long) <> length(short) OR at > length(short) THEN RETURN false; END IF;
  RETURN substr(short, at + 1) = substr(long, at + 1)
    OR (substr(short, at, 1) = substr(long, at + 1, 1) AND substr(short, at + 1, 1) = substr(long, at, 1) AND substr(short, at + 2) = substr(long, at + 2));
END $$;
