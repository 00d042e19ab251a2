-- GET series: a page after {after} by how well a search fits, then id, with the number of events of each, and the total number of matching series
-- Initials with dots count as one word too: "U.S." as `us`.
WITH passing AS (
  SELECT series_id, title, category, frequency,
    trimBoth(arrayFold((text, dotted) -> replaceAll(text, concat(' ', replaceAll(dotted, '.', ' '), ' '), concat(' ', replaceAll(dotted, '.', ''), ' ')),
      extractAll(lowerUTF8(title), '(?:^|[^\\p{L}\\p{N}])(\\p{L}(?:\\.\\p{L})+)(?:[^\\p{L}\\p{N}]|$)'), concat(' ', search_title, ' '))) AS joined,
    replaceRegexpAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(concat(category, ' ', series_id)), '\\p{M}+', '')), '[^\\p{L}\\p{N}]+', ' ') AS others,
    concat(' ', search_title, ' ', joined, ' ', others, ' ') AS searched_text,
    if({searched:Bool}, multiIf(series_id IN {ids:Array(String)}, 3,
      startsWith(joined, {text:String}) OR startsWith(lowerUTF8(series_id), {own:String}), 2,
      NOT has(multiSearchAllPositions(concat(' ', joined), {begun:Array(String)}), 0), 1, 0), 0) AS class
  FROM series FINAL
  WHERE platform = {platform:String}
    /* with category */ AND category_slug = {category:String} /* end */
    AND (NOT {searched:Bool} OR series_id IN {ids:Array(String)} OR (
      notEmpty({words:Array(Array(String))}) AND arrayAll(spellings -> arrayExists(spelling -> position(searched_text, spelling) > 0, spellings), {words:Array(Array(String))})
    ))
),
page AS (
  SELECT * FROM passing WHERE (-toInt8(class), series_id) > (-{after_class:Int8}, {after:String})
  ORDER BY class DESC, series_id LIMIT {limit:UInt32}
),
own AS (
  SELECT event_key, series_id FROM events FINAL
  WHERE platform = {platform:String} AND series_id IN (SELECT series_id FROM page)
)
SELECT p.series_id AS series_id, p.title AS title, p.category AS category, p.frequency AS frequency, p.class AS class, e.events_count AS events_count,
  e.open_events AS open_events, (SELECT count() FROM passing) AS total
FROM page AS p
LEFT JOIN (
  SELECT series_id, count() AS events_count, countIf(is_open) AS open_events
  FROM own
  INNER JOIN (
    SELECT b.event_key AS event_key, max(s.status = 'open') AS is_open
    FROM (SELECT event_key, market_key FROM event_markets FINAL WHERE platform = {platform:String} AND event_key IN (SELECT event_key FROM own)) AS b
    INNER JOIN (
      SELECT market_key, event_id, status, is_placeholder, is_combo FROM market_state FINAL
      PREWHERE platform = {platform:String} AND market_key IN (
        SELECT market_key FROM event_markets WHERE platform = {platform:String} AND event_key IN (SELECT event_key FROM own)
      )
    ) AS s USING (market_key)
    WHERE NOT s.is_placeholder AND NOT s.is_combo AND sipHash64({platform:String}, s.event_id) = event_key
    GROUP BY event_key
  ) AS m USING (event_key)
  GROUP BY series_id
) AS e USING (series_id)
ORDER BY class DESC, series_id
