-- GET events, series with {query}: the words of stored titles that begin with one of {asked}; {typos}: those that may differ by a typo
-- Titles first seen after {as_of} are left out: all pages of a listing go by the same words. A swap of two letters counts as two edits.
-- A word with one typo still has the first or the second half of the word, less one letter.
SELECT asked, groupArray(word) AS found
FROM (
  SELECT asked, word
  FROM search_vocabulary
  ARRAY JOIN {asked:Array(String)} AS asked
  WHERE platform = {platform:String} AND kind = {kind:String} AND if({typos:Bool},
    (startsWith(word, substringUTF8(asked, 1, intDiv(lengthUTF8(asked) - 1, 2))) OR endsWith(word, rightUTF8(asked, intDiv(lengthUTF8(asked) - 1, 2))))
      AND abs(toInt32(lengthUTF8(word)) - toInt32(lengthUTF8(asked))) <= 1 AND editDistanceUTF8(word, asked) <= 2,
    startsWith(word, asked))
  GROUP BY asked, word HAVING min(seen_at) <= {as_of:DateTime64(3, 'UTC')}
  ORDER BY lengthUTF8(word), word
  LIMIT 500 BY asked
)
GROUP BY asked
