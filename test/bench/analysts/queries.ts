/** A question of an analyst: in SQL over the views, and in DuckDB's SQL over the day files. Both answer the same rows in one order. */
export interface AnalystQuery {
  name: string;
  views: string;
  files: string;
}

/** What the questions ask about: UTC days and instants as text, a market and a wallet. */
export interface Asked {
  /** Midnight 30 days before the end of the trades. */
  monthAgo: string;
  /** Instants a week, two days and a day before their end, without a zone. */
  weekAgo: string;
  twoDaysAgo: string;
  dayAgo: string;
  market: { platform: string; id: string };
  wallet: string;
}

/** The settled markets of the files whose payout is known. */
const SETTLED = `SELECT platform, market_id, price AS paid, trading_end_at FROM markets WHERE status = 'settled' AND price IN (0, 1)`;
/** Rounded, as a difference of doubles is not the double of the difference. */
const FIRST_PRICE = 'CASE outcome_index WHEN 0 THEN t.price ELSE round(1 - t.price, 10) END';

const since = (instant: string): string => `TIMESTAMPTZ '${instant}+00'`;

/** The fifteen questions. */
export function analystQueries({ monthAgo, weekAgo, twoDaysAgo, dayAgo, market, wallet }: Asked): AnalystQuery[] {
  const ofMarket = `market_key = (SELECT market_key FROM v_markets WHERE id = '${market.platform}:${market.id}')`;
  const inFile = `platform = '${market.platform}' AND market_id = '${market.id}'`;
  return [
    {
      name: 'daily volume by platform and category, 30 days',
      views: `SELECT toDate(v.hour) AS day, v.platform AS platform, m.category AS category, sum(v.notional) AS usd
        FROM v_volume AS v INNER JOIN v_markets AS m ON m.market_key = v.market_key
        WHERE v.hour >= '${monthAgo}' GROUP BY day, platform, category ORDER BY day, platform, category`,
      files: `SELECT t.date::VARCHAR AS day, t.platform, m.category, sum(t.notional) AS usd
        FROM trades AS t INNER JOIN markets AS m USING (platform, market_id)
        WHERE t.date >= DATE '${monthAgo.slice(0, 10)}' GROUP BY ALL ORDER BY ALL`,
    },
    {
      name: 'top 20 markets of 24 h',
      views: `SELECT any(market_id) AS id, sum(notional) AS usd FROM v_trades
        WHERE executed_at >= '${dayAgo}' GROUP BY market_key ORDER BY usd DESC LIMIT 20`,
      files: `SELECT market_id, sum(notional) AS usd FROM trades
        WHERE date >= DATE '${dayAgo.slice(0, 10)}' AND executed_at >= ${since(dayAgo)} GROUP BY platform, market_id ORDER BY usd DESC LIMIT 20`,
    },
    {
      name: 'VWAP by hour of a market',
      views: `SELECT toUnixTimestamp(toStartOfHour(executed_at)) AS hour, toFloat64(sum(notional)) / toFloat64(sum(size)) AS vwap
        FROM v_trades WHERE ${ofMarket} AND outcome_index = 0 GROUP BY hour ORDER BY hour`,
      files: `SELECT epoch_us(executed_at) // 3600000000 * 3600 AS hour, sum(notional) / sum(size) AS vwap
        FROM trades WHERE ${inFile} AND outcome_index = 0 GROUP BY hour ORDER BY hour`,
    },
    {
      name: 'last 100 trades of a wallet',
      views: `SELECT toUnixTimestamp64Micro(executed_at) AS at, platform, side, outcome, price, size, trade_id
        FROM v_trades WHERE trader = '${wallet}' ORDER BY executed_at DESC, trade_id DESC LIMIT 100`,
      files: `SELECT epoch_us(executed_at) AS at, platform, side, outcome, price, size, trade_id
        FROM trades WHERE trader = '${wallet}' ORDER BY executed_at DESC, trade_id DESC LIMIT 100`,
    },
    {
      name: 'trades above 10,000 USD by market',
      views: `SELECT any(market_id) AS id, count() AS trades, sum(notional) AS usd FROM v_whales
        WHERE notional >= 10000 GROUP BY market_key ORDER BY usd DESC, id LIMIT 50`,
      files: `SELECT market_id AS id, count(*) AS trades, sum(notional) AS usd FROM trades WHERE notional >= 10000
        GROUP BY platform, market_id ORDER BY usd DESC, id LIMIT 50`,
    },
    {
      name: 'calibration an hour before the close',
      views: `WITH settled AS (
          SELECT market_key, toFloat64(price) AS paid, trading_end_at - INTERVAL 1 HOUR AS instant
          FROM v_markets WHERE status = 'settled' AND price IN (0, 1)
        ), last AS (
          SELECT s.market_key AS market_key, any(s.paid) AS paid, toNullable(argMax(t.first_price, t.executed_at)) AS price, true AS traded
          FROM v_trades AS t INNER JOIN settled AS s ON s.market_key = t.market_key
          WHERE t.executed_at <= s.instant AND NOT t.is_block GROUP BY s.market_key
          UNION ALL
          SELECT s.market_key, any(s.paid), argMax(q.price, q.at), false
          FROM v_quotes AS q INNER JOIN settled AS s ON s.market_key = q.market_key
          WHERE q.at <= s.instant AND q.price IS NOT NULL AND q.status != 'settled' GROUP BY s.market_key
        )
        SELECT least(floor(10 * p), 9) AS bin, count() AS markets, avg(paid) AS came_true, avg(pow(p - paid, 2)) AS brier
        FROM (SELECT market_key, any(paid) AS paid, toFloat64(argMax(price, traded)) AS p FROM last GROUP BY market_key)
        GROUP BY bin ORDER BY bin`,
      files: `WITH settled AS (SELECT platform, market_id, paid, trading_end_at - INTERVAL 1 HOUR AS instant FROM (${SETTLED})),
        known AS (
          SELECT platform, market_id, executed_at AS at, ${FIRST_PRICE} AS price, true AS traded FROM trades AS t WHERE NOT is_block
          UNION ALL
          SELECT platform, market_id, read_at, price, false FROM quotes WHERE price IS NOT NULL AND status <> 'settled'
        )
        SELECT least(floor(10 * p), 9) AS bin, count(*) AS markets, avg(paid) AS came_true, avg(pow(p - paid, 2)) AS brier
        FROM (
          SELECT platform, market_id, any_value(s.paid) AS paid, arg_max(k.price, {'traded': k.traded, 'at': k.at})::DOUBLE AS p
          FROM known AS k INNER JOIN settled AS s USING (platform, market_id) WHERE k.at <= s.instant GROUP BY platform, market_id
        ) GROUP BY bin ORDER BY bin`,
    },
    {
      name: 'average spread by category, two days',
      views: `SELECT m.category AS category, count() AS quotes, avg(toFloat64(q.spread)) AS spread
        FROM v_quotes AS q INNER JOIN v_markets AS m ON m.market_key = q.market_key
        WHERE q.at >= '${twoDaysAgo}' AND q.spread IS NOT NULL GROUP BY category ORDER BY category`,
      files: `SELECT m.category AS category, count(*) AS quotes, avg((q.ask - q.bid)::DOUBLE) AS spread
        FROM quotes AS q INNER JOIN markets AS m USING (platform, market_id)
        WHERE q.date >= DATE '${twoDaysAgo.slice(0, 10)}' AND q.read_at >= ${since(twoDaysAgo)} AND q.ask IS NOT NULL AND q.bid IS NOT NULL
        GROUP BY ALL ORDER BY ALL`,
    },
    {
      name: 'order-flow imbalance by market, 7 days',
      views: `SELECT any(market_id) AS id, sum(size) AS total, toFloat64(sumIf(size, (side = 'buy') = (outcome_index = 0))) / toFloat64(sum(size)) AS imbalance
        FROM v_trades WHERE executed_at >= '${weekAgo}' GROUP BY market_key ORDER BY total DESC, id LIMIT 100`,
      files: `SELECT market_id AS id, sum(size) AS total, coalesce(sum(size) FILTER ((side = 'buy') = (outcome_index = 0)), 0) / sum(size) AS imbalance
        FROM trades WHERE date >= DATE '${weekAgo.slice(0, 10)}' AND executed_at >= ${since(weekAgo)}
        GROUP BY platform, market_id ORDER BY total DESC, id LIMIT 100`,
    },
    {
      name: 'price a day before resolution of all settled markets',
      views: `WITH settled AS (SELECT market_key, id, resolved_at - INTERVAL 1 DAY AS instant FROM v_markets WHERE status = 'settled')
        SELECT any(s.id) AS id, argMax(t.first_price, t.executed_at) AS price
        FROM v_trades AS t INNER JOIN settled AS s ON s.market_key = t.market_key
        WHERE t.executed_at <= s.instant AND NOT t.is_block GROUP BY t.market_key ORDER BY id`,
      files: `WITH settled AS (SELECT platform, market_id, trading_end_at - INTERVAL 1 DAY AS instant FROM (${SETTLED}))
        SELECT platform || ':' || market_id AS id, arg_max(${FIRST_PRICE}, executed_at) AS price
        FROM trades AS t INNER JOIN settled AS s USING (platform, market_id)
        WHERE t.executed_at <= s.instant AND NOT t.is_block GROUP BY platform, market_id ORDER BY id`,
    },
    {
      name: 'traders a day',
      views: `SELECT toDate(executed_at) AS day, uniqExact(cityHash64(trader)) AS traders FROM v_trades WHERE trader != '' GROUP BY day ORDER BY day`,
      files: `SELECT date::VARCHAR AS day, count(DISTINCT trader) AS traders FROM trades WHERE trader <> '' GROUP BY ALL ORDER BY ALL`,
    },
    {
      name: 'return of buying at 0.80 to 0.95',
      views: `WITH settled AS (SELECT market_key, toFloat64(price) AS paid FROM v_markets WHERE status = 'settled' AND price IN (0, 1))
        SELECT count() AS trades, sum(toFloat64(t.size) * (if(t.outcome_index = 0, s.paid, 1 - s.paid) - toFloat64(t.price))) / sum(toFloat64(t.size) * toFloat64(t.price)) AS result
        FROM v_trades AS t INNER JOIN settled AS s ON s.market_key = t.market_key
        WHERE t.side = 'buy' AND t.price >= 0.80 AND t.price <= 0.95`,
      files: `SELECT count(*) AS trades, sum(t.size::DOUBLE * (CASE t.outcome_index WHEN 0 THEN s.paid ELSE 1 - s.paid END - t.price)) / sum(t.size::DOUBLE * t.price) AS result
        FROM trades AS t INNER JOIN (${SETTLED}) AS s USING (platform, market_id)
        WHERE t.side = 'buy' AND t.price >= 0.80 AND t.price <= 0.95`,
    },
    {
      name: 'all trades by category',
      views: `SELECT m.category AS category, count() AS trades, sum(t.notional) AS usd
        FROM v_trades AS t INNER JOIN v_markets AS m ON m.market_key = t.market_key GROUP BY category ORDER BY category`,
      files: `SELECT m.category, count(*) AS trades, sum(t.notional) AS usd
        FROM trades AS t INNER JOIN markets AS m USING (platform, market_id) GROUP BY ALL ORDER BY ALL`,
    },
    {
      name: 'five-minute bars of a market, 7 days',
      views: `SELECT toUnixTimestamp(t) AS start, open, high, low, close, volume FROM v_candles
        WHERE ${ofMarket} AND interval = '5m' AND series = 0 AND t >= '${weekAgo}' ORDER BY start`,
      files: `SELECT epoch_us(start_at) // 300000000 * 300 AS start, arg_min(open, start_at), max(high), min(low), arg_max(close, start_at), sum(volume)
        FROM candles_1m WHERE ${inFile} AND series = 0 AND date >= DATE '${weekAgo.slice(0, 10)}'
        GROUP BY start HAVING start >= epoch(${since(weekAgo)}) ORDER BY start`,
    },
    {
      name: 'cohorts of wallets by their first week',
      views: `SELECT toMonday(first) AS week, count() AS wallets, sum(n) AS trades FROM (
          SELECT cityHash64(trader) AS wallet, min(executed_at) AS first, count() AS n FROM v_trades WHERE trader != '' GROUP BY wallet
        ) GROUP BY week ORDER BY week`,
      files: `SELECT date_trunc('week', first)::DATE::VARCHAR AS week, count(*) AS wallets, sum(n) AS trades FROM (
          SELECT trader, min(date) AS first, count(*) AS n FROM trades WHERE trader <> '' GROUP BY trader
        ) GROUP BY week ORDER BY week`,
    },
    {
      name: 'time-weighted spread by platform, two days',
      views: `SELECT platform, sum(spread * seconds) / sum(seconds) AS spread FROM (
          SELECT platform, toFloat64(spread) AS spread, dateDiff('second', at, leadInFrame(toNullable(at)) OVER (PARTITION BY market_key ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS seconds
          FROM v_quotes WHERE at >= '${twoDaysAgo}' AND spread IS NOT NULL
        ) WHERE seconds IS NOT NULL GROUP BY platform ORDER BY platform`,
      files: `SELECT platform, sum(spread * seconds) / sum(seconds) AS spread FROM (
          SELECT platform, (ask - bid)::DOUBLE AS spread,
            epoch(lead(read_at) OVER (PARTITION BY platform, market_id ORDER BY read_at)) - epoch(read_at) AS seconds
          FROM quotes WHERE date >= DATE '${twoDaysAgo.slice(0, 10)}' AND read_at >= ${since(twoDaysAgo)} AND ask IS NOT NULL AND bid IS NOT NULL
        ) WHERE seconds IS NOT NULL GROUP BY platform ORDER BY platform`,
    },
  ];
}
