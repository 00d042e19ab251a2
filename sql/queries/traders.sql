-- markets/trades, trades/whales: names of wallets as last reported by the platform
SELECT concat('0x', lower(hex(trader))) AS wallet, name, pseudonym, profile_image
FROM traders FINAL
PREWHERE platform = {platform:String} AND trader IN (SELECT unhex(substring(arrayJoin({wallets:Array(String)}), 3)))
