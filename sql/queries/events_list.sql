-- GET events: the number of matching events, and a page of (minus rank, key) in the requested order, of the listing as of {as_of}
-- Markets written since then, those that had ended a day before, and unknown volumes count as in markets_list.
-- Initials with dots count as one word too, as in series_list.
WITH changed AS (
  SELECT DISTINCT market_key FROM market_state WHERE platform = {platform:String} AND written_at > {as_of:DateTime64(3, 'UTC')}
),
listing AS (
  SELECT event_id, status,
    if(status IN ('closed', 'settled') AND synced_at <= {as_of:DateTime64(3, 'UTC')} - INTERVAL 1 DAY, toDecimal64(0, 6), volume_24h) AS volume_24h,
    trading_end_at, created_at
  FROM market_state FINAL
  WHERE platform = {platform:String} AND event_id != '' AND ({include_placeholders:Bool} OR NOT is_placeholder) AND ({include_combos:Bool} OR NOT is_combo) AND written_at <= {as_of:DateTime64(3, 'UTC')}
  UNION ALL
  SELECT event_id, shown.1, shown.2, shown.3, created_at
  FROM (
    SELECT event_id, created_at, if(was.1 = '', present, was) AS shown
    FROM (
      SELECT market_key, event_id, created_at, tuple(status, volume_24h, trading_end_at) AS present
      FROM market_state FINAL
      PREWHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM changed)
      WHERE event_id != '' AND ({include_placeholders:Bool} OR NOT is_placeholder) AND ({include_combos:Bool} OR NOT is_combo) AND written_at > {as_of:DateTime64(3, 'UTC')} AND first_seen_at <= {as_of:DateTime64(3, 'UTC')}
    ) AS c
    LEFT JOIN (
      SELECT market_key, argMax(tuple(status, volume_24h, trading_end_at), at) AS was
      FROM market_snapshots
      WHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM changed)
        AND written_at <= {as_of:DateTime64(3, 'UTC')} AND at >= {as_of:DateTime64(3, 'UTC')} - INTERVAL 1 DAY
      GROUP BY market_key
    ) AS e USING (market_key)
  )
)
SELECT count() AS total,
  arrayMap(
    place -> (toInt64(bitShiftRight(place, 64)), toUInt64(bitAnd(place, toInt128(18446744073709551615)))),
    arraySlice(groupArraySortedIf(201)(place, place > {after:Int128}), 1, {limit:UInt32})
  ) AS page
FROM (
  SELECT bitOr(bitShiftLeft(toInt128(-(rank + if({sort:String} = 'match', fit * 1152921504606846976, 0))), 64), toInt128(sipHash64({platform:String}, event_id))) AS place
  FROM (
    SELECT event_id, any(class) AS fit,
      multiIf(countIf(status = 'open') > 0, 'open', countIf(status = 'paused') > 0, 'paused', countIf(status = 'unopened') > 0, 'unopened',
        countIf(status = 'closed') > 0, 'closed', 'settled') AS state,
      if({sort:String} IN ('volume_24h', 'match'), if(count(volume_24h) = count(), ifNull(sum(reinterpretAsInt64(volume_24h)), 0), -1000000),
      if({sort:String} = 'end_date', -if(count(trading_end_at) = count(), toUnixTimestamp64Milli(assumeNotNull(max(trading_end_at))), 7258118400000),
      if({sort:String} = 'created', toUnixTimestamp64Milli(ifNull(min(created_at), toDateTime64(0, 3, 'UTC'))),
      toInt64(count())))) AS rank
    FROM listing
    INNER JOIN (
      SELECT event_id,
        trimBoth(arrayFold((text, dotted) -> replaceAll(text, concat(' ', replaceAll(dotted, '.', ' '), ' '), concat(' ', replaceAll(dotted, '.', ''), ' ')),
          extractAll(lowerUTF8(title), '(?:^|[^\\p{L}\\p{N}])(\\p{L}(?:\\.\\p{L})+)(?:[^\\p{L}\\p{N}]|$)'), concat(' ', search_title, ' '))) AS joined,
        replaceRegexpAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(concat(category, ' ', event_id, ' ', slug)), '\\p{M}+', '')), '[^\\p{L}\\p{N}]+', ' ') AS others,
        concat(' ', search_title, ' ', joined, ' ', others, ' ') AS searched_text,
        toInt64(NOT {searched:Bool} ? 0 : multiIf(event_id IN {ids:Array(String)} OR slug IN {ids:Array(String)}, 3,
          startsWith(joined, {text:String}) OR startsWith(lowerUTF8(event_id), {own:String}), 2,
          NOT has(multiSearchAllPositions(concat(' ', joined), {begun:Array(String)}), 0), 1, 0)) AS class
      FROM events FINAL
      WHERE platform = {platform:String}
        /* with category */ AND category_slug = {category:String} /* end */
        /* with series_id */ AND series_id = {series_id:String} /* end */
        AND (NOT {searched:Bool} OR event_id IN {ids:Array(String)} OR slug IN {ids:Array(String)} OR (
          notEmpty({words:Array(Array(String))}) AND arrayAll(spellings -> arrayExists(spelling -> position(searched_text, spelling) > 0, spellings), {words:Array(Array(String))})
        ))
    ) AS e USING (event_id)
    GROUP BY event_id
  )
  /* with status */ WHERE state = {status:String} /* end */
)
SETTINGS use_skip_indexes_if_final = 0
