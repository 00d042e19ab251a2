-- markets/trades, trades/whales: names of wallets as last reported by the platforms
SELECT platform, concat('0x', lower(hex(trader))) AS wallet, name, pseudonym, profile_image
FROM traders FINAL
PREWHERE platform IN {platforms:Array(String)} AND trader IN (SELECT unhex(substring(arrayJoin({wallets:Array(String)}), 3)))
