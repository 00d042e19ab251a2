-- GET markets: the number of matching markets, and a page of (minus rank, key) in the requested order, of the listing as of {as_of}
-- Markets written since then are used as of their last snapshot before it (as they are now, if there was none in the day before),
-- so that pages of one listing neither repeat nor miss a market. A market that had ended a day before has no volume of the last day, even
-- if its platform reported one then.
WITH changed AS (
  SELECT DISTINCT market_key FROM market_state WHERE platform = {platform:String} AND written_at > {as_of:DateTime64(3, 'UTC')}
),
listing AS (
  SELECT market_key, status, category_slug, event_id,
    if(status IN ('closed', 'settled') AND synced_at <= {as_of:DateTime64(3, 'UTC')} - INTERVAL 1 DAY, toDecimal64(0, 6), volume_24h) AS volume_24h,
    volume_total, liquidity, trading_end_at, created_at, liquidity_known, is_placeholder, is_combo
  FROM market_state FINAL
  WHERE platform = {platform:String} AND written_at <= {as_of:DateTime64(3, 'UTC')}
  UNION ALL
  SELECT market_key, shown.1, category_slug, event_id, shown.2, shown.3, shown.4, shown.5, created_at, liquidity_known, is_placeholder, is_combo
  FROM (
    SELECT market_key, category_slug, event_id, created_at, liquidity_known, is_placeholder, is_combo, if(was.1 = '', present, was) AS shown
    FROM (
      SELECT market_key, category_slug, event_id, created_at, liquidity_known, is_placeholder, is_combo, tuple(status, volume_24h, volume_total, liquidity, trading_end_at) AS present
      FROM market_state FINAL
      PREWHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM changed)
      WHERE written_at > {as_of:DateTime64(3, 'UTC')} AND first_seen_at <= {as_of:DateTime64(3, 'UTC')}
    ) AS c
    LEFT JOIN (
      SELECT market_key, argMax(tuple(status, volume_24h, volume_total, liquidity, trading_end_at), at) AS was
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
    arraySlice(groupArraySortedIf(501)(place, place > {after:Int128}), 1, {limit:UInt32})
  ) AS page
FROM (
  -- Minus rank and key are one integer, high and low half: pairs take three times as long to compare.
  -- An amount ranks by its stored integer of millionths: scaled up it would overflow from 9.2 million on. Unknown volumes of the last day
  -- go by the volume in all, as in src/present/rows.ts.
  SELECT bitOr(bitShiftLeft(toInt128(-(
    if({sort:String} = 'volume_24h', if(isNull(volume_24h), least(-1, intDiv(reinterpretAsInt64(ifNull(volume_total, toDecimal64(0, 6))), 10000000) - 1000000), reinterpretAsInt64(assumeNotNull(volume_24h))),
    if({sort:String} = 'volume_total', reinterpretAsInt64(ifNull(volume_total, toDecimal64(-1, 6))),
    if({sort:String} = 'liquidity', reinterpretAsInt64(if(liquidity_known, liquidity, toDecimal64(-1, 6))),
    if({sort:String} = 'end_date', -toUnixTimestamp64Milli(ifNull(trading_end_at, toDateTime64('2200-01-01 00:00:00', 3, 'UTC'))),
    toUnixTimestamp64Milli(ifNull(created_at, toDateTime64('1970-01-01 00:00:00', 3, 'UTC')))))))
  )), 64), toInt128(market_key)) AS place
  FROM listing
  WHERE ({include_placeholders:Bool} OR NOT is_placeholder) AND ({include_combos:Bool} OR NOT is_combo)
    /* with status */ AND status = {status:String} /* end */
    /* with category */ AND category_slug = {category:String} /* end */
    /* with event_id */ AND event_id = {event_id:String} /* end */
    /* with min_liquidity */ AND liquidity_known AND liquidity >= {min_liquidity:Decimal64(6)} /* end */
    /* with ends_after */ AND trading_end_at >= {ends_after:DateTime64(3, 'UTC')} /* end */
    /* with ends_before */ AND trading_end_at < {ends_before:DateTime64(3, 'UTC')} /* end */
)
-- An index on written_at would drop a market's newest row and let FINAL return an older one.
SETTINGS use_skip_indexes_if_final = 0
