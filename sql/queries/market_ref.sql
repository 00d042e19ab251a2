-- every endpoint that takes a market id: the stored market a user means by a platform id, a reference or a slug
SELECT ref, platform_id FROM markets FINAL
WHERE platform = {platform:String}
  AND (market_key = sipHash64({platform:String}, {id:String}) OR platform_id = {id:String} OR slug = {id:String})
ORDER BY platform_id = {id:String} DESC, ref = {id:String} DESC, version DESC
LIMIT 1
