-- present: names of traders written since an instant, and those of these wallets, as they are copied to PostgreSQL
SELECT concat('\\x', lower(hex(trader))) AS wallet, name, pseudonym, profile_image, seen_at FROM traders FINAL
WHERE platform = {platform:String} AND (trader IN (SELECT unhex(arrayJoin({wallets:Array(String)}))) OR seen_at >= {since:DateTime64(3, 'UTC')})
