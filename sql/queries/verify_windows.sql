-- npm run verify: market_windows against the trades of markets in [low, high] (with {keys}, of these), if they are made of trades
WITH [toDecimal64(0, 6), 0, 0, 0] AS nothing
SELECT count() AS compared, 0 AS missing, 0 AS extra, countIf(stored != expected) AS different,
  anyIf(concat('market ', toString(market_key), ': ', toString(stored), ' instead of ', toString(expected)), stored != expected) AS example
FROM (
  SELECT w.market_key AS market_key, w.facts AS stored, if(empty(e.facts), nothing, e.facts) AS expected
  FROM (
    SELECT market_key,
      arrayConcat(if(basis_24h = 'trades', [assumeNotNull(sold_24h), assumeNotNull(sold_24h_before)], [0, 0]), if(basis_7d = 'trades', [assumeNotNull(sold_7d), assumeNotNull(sold_7d_before)], [0, 0])) AS facts
    FROM market_windows
    WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */
  ) AS w
  LEFT JOIN (
    SELECT market_key, [
      toDecimal64(sumIf(x, basis_24h = 'trades' AND day = 0), 6), toDecimal64(sumIf(x, basis_24h = 'trades' AND day = 1), 6),
      toDecimal64(sumIf(x, basis_7d = 'trades' AND day < 7), 6), toDecimal64(sumIf(x, basis_7d = 'trades' AND day BETWEEN 7 AND 13), 6)] AS facts
    FROM (
      SELECT t.market_key AS market_key, basis_24h, basis_7d, if(t.platform IN (SELECT platform FROM platforms WHERE volume_basis = 'contracts'), size, notional) AS x,
        intDiv(toUnixTimestamp64Micro(toDateTime64(as_of, 6, 'UTC')) - toUnixTimestamp64Micro(executed_at), 86400000000) AS day
      FROM (
        SELECT market_key, platform, executed_at, size, notional FROM trades FINAL
        WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND executed_at > now64(6) - toIntervalDay(15)
      ) AS t
      INNER JOIN (SELECT market_key, as_of, basis_24h, basis_7d FROM market_windows) AS b USING (market_key)
      WHERE executed_at <= as_of
    )
    GROUP BY market_key
  ) AS e USING (market_key)
)
