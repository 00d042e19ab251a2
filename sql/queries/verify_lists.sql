-- npm run verify: platforms whose list of large trades is not the one that the raw trades make
SELECT count() AS compared, countIf(e.n != a.n OR e.q != a.q) AS different
FROM (SELECT platform, count() AS n, sum(notional) AS q FROM trades FINAL WHERE size >= 250 GROUP BY platform) AS e
FULL OUTER JOIN (SELECT platform, count() AS n, sum(notional) AS q FROM {table:Identifier} GROUP BY platform) AS a USING (platform)
