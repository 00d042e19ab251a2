-- present: pairs whose first market is of a platform, with a verdict made since an instant, and the time by which a copy is compared
SELECT m.a_key AS a_key, m.b_key AS b_key, max(m.checked_at) AS checked_at FROM matches AS m
WHERE m.a_platform = {platform:String} AND m.checked_at >= {since:DateTime64(3, 'UTC')}
GROUP BY m.a_key, m.b_key
