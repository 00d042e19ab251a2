import { DAY, groupBy, type MadeTrade, QUOTES, START, TRADES } from './analyst-world.ts';

/** A cell of an answer. */
export type Value = string | number | null;
/** What somebody asks, in his words and in SQL, and the right answer. */
export interface Statement {
  asks: string;
  sql: string;
  expected: () => Value[][];
}

const HOUR = 3_600_000;
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const second = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
const micro = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1).replace('T', ' ')}000`;
const monday = (ms: number): string => day(START + Math.floor((ms - START) / (7 * DAY)) * 7 * DAY);
const usd = ({ cents, size }: MadeTrade): number => (cents * size) / 100;
const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: number[]): number => sum(values) / values.length;
/** Price in terms of the first outcome, in cents. */
const first = ({ outcome, cents }: MadeTrade): number => (outcome === 0 ? cents : 100 - cents);
const of = (id: string): MadeTrade[] => TRADES.filter(({ market }) => market.id === id);
const byNumber = (at: number) => (a: Value[], b: Value[]) => Number(b[at]) - Number(a[at]);
const byText = (a: Value[], b: Value[]) => (String(a[0]) + String(a[1]) < String(b[0]) + String(b[1]) ? -1 : 1);

/** A row for each group of `trades`, by its name in the order of text. */
function grouped<T>(
  rows: readonly T[],
  name: (row: T) => string,
  values: (rows: T[], name: string) => Value[],
): Value[][] {
  return [...groupBy(rows, name)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, group]): Value[] => [[key], values(group, key)].flat());
}

const bid = ({ market, atMs }: MadeTrade): number =>
  QUOTES.findLast((quote) => quote.market === market && quote.atMs <= atMs)!.bid;
const count = (wanted: (trade: MadeTrade) => boolean): number => TRADES.filter(wanted).length;

/** What people write on the views without reading a manual. */
export const STATEMENTS: Statement[] = [
  {
    asks: 'VWAP by hour of a market',
    sql: `SELECT toStartOfHour(time) AS hour, sum(price * size) / sum(size) AS vwap FROM v_trades
      WHERE market_id = 'KXA' AND outcome = 'yes' GROUP BY hour ORDER BY hour`,
    expected: () =>
      grouped(
        of('KXA').filter(({ outcome }) => outcome === 0),
        ({ atMs }) => second(Math.floor(atMs / HOUR) * HOUR),
        (rows) => [sum(rows.map(usd)) / sum(rows.map(({ size }) => size))],
      ),
  },
  {
    asks: 'that price times size adds up to notional',
    sql: 'SELECT sum(price * size), sum(notional), count() FROM v_trades',
    expected: () => [[sum(TRADES.map(usd)), sum(TRADES.map(usd)), TRADES.length]],
  },
  {
    asks: 'the correlation of price and size',
    sql: 'SELECT corr(price, size) FROM v_trades',
    expected: () => {
      const [mx, my] = [mean(TRADES.map(({ cents }) => cents)), mean(TRADES.map(({ size }) => size))];
      const products = sum(TRADES.map(({ cents, size }) => (cents - mx) * (size - my)));
      const squares = [
        sum(TRADES.map(({ cents }) => (cents - mx) ** 2)),
        sum(TRADES.map(({ size }) => (size - my) ** 2)),
      ];
      return [[products / Math.sqrt(squares[0]! * squares[1]!)]];
    },
  },
  {
    asks: 'the weighted mean and the deviation of prices by platform',
    sql: `SELECT platform, sum(price * size) / sum(size) AS weighted, avg(price) AS plain, stddevPop(price) AS deviation
      FROM v_trades GROUP BY platform ORDER BY platform`,
    expected: () =>
      grouped(
        TRADES,
        ({ market }) => market.platform,
        (rows) => {
          const prices = rows.map(({ cents }) => cents / 100);
          const variance = mean(prices.map((price) => (price - mean(prices)) ** 2));
          return [sum(rows.map(usd)) / sum(rows.map(({ size }) => size)), mean(prices), Math.sqrt(variance)];
        },
      ),
  },
  {
    asks: 'the mean relative spread of each market',
    sql: 'SELECT title, avg((ask - bid) / ((ask + bid) / 2)) AS spread FROM v_quotes GROUP BY title ORDER BY title',
    expected: () =>
      grouped(
        QUOTES,
        ({ market }) => market.title,
        (rows) => [mean(rows.map(({ bid, ask }) => (2 * (ask - bid)) / (ask + bid)))],
      ),
  },
  {
    asks: 'whales by market with titles',
    sql: 'SELECT title, count() AS trades, sum(notional) AS usd FROM v_whales GROUP BY title ORDER BY usd DESC',
    expected: () =>
      grouped(
        TRADES.filter((trade) => usd(trade) >= 250),
        ({ market }) => market.title,
        (rows) => [rows.length, sum(rows.map(usd))],
      ).toSorted(byNumber(2)),
  },
  {
    asks: 'the last trades of a wallet with titles',
    sql: `SELECT time, title, side, price, size FROM v_trades WHERE trader = '0x${'1'.repeat(40)}' ORDER BY time DESC LIMIT 5`,
    expected: () =>
      TRADES.filter(({ wallet }) => wallet.startsWith('0x1'))
        .toReversed()
        .slice(0, 5)
        .map(({ atMs, market, side, cents, size }) => [micro(atMs), market.title, side, cents / 100, size]),
  },
  {
    asks: 'daily USD by category',
    sql: `SELECT toDate(time) AS day, category, sum(notional) AS usd FROM v_trades JOIN v_markets USING (market_key)
      GROUP BY day, category ORDER BY day, category`,
    expected: () =>
      grouped(
        TRADES,
        ({ atMs, market }) => `${day(atMs)} ${market.category}`,
        (rows) => [sum(rows.map(usd))],
      )
        .map(([name, amount]) => [String(name).split(' '), amount ?? null].flat())
        .toSorted(byText),
  },
  {
    asks: 'the same of the hourly volumes',
    sql: `SELECT toDate(time) AS day, platform, sum(notional) AS usd, sum(trades) AS trades FROM v_volume GROUP BY day, platform ORDER BY day, platform`,
    expected: () =>
      grouped(
        TRADES,
        ({ atMs, market }) => `${day(atMs)} ${market.platform}`,
        (rows) => [sum(rows.map(usd)), rows.length],
      )
        .map(([name, ...values]) => [String(name).split(' '), values].flat())
        .toSorted(byText),
  },
  {
    asks: 'cohorts of wallets by their first week',
    sql: `SELECT date_trunc('week', first_trade_at) AS week, count() AS wallets, sum(trades) AS trades FROM (
        SELECT wallet, min(first_trade_at) AS first_trade_at, sum(trades) AS trades FROM v_wallets GROUP BY wallet
      ) GROUP BY week ORDER BY week`,
    expected: () => {
      const wallets = [
        ...groupBy(
          TRADES.filter(({ wallet }) => wallet !== ''),
          ({ wallet }) => wallet,
        ).values(),
      ];
      return grouped(
        wallets,
        ([trade]) => monday(trade!.atMs),
        (rows) => [rows.length, sum(rows.map((one) => one.length))],
      );
    },
  },
  {
    asks: 'calibration of trades in settled markets',
    sql: `SELECT floor(first_price * 10) / 10 AS bin, count() AS trades, avg(m.price) AS came_true
      FROM v_trades AS t JOIN v_markets AS m ON m.market_key = t.market_key WHERE m.status = 'settled' GROUP BY bin ORDER BY bin`,
    expected: () =>
      grouped(
        TRADES.filter(({ market }) => market.paid !== null),
        (trade) => String(Math.floor(first(trade) / 10) / 10),
        (rows) => [rows.length, mean(rows.map(({ market }) => market.paid! / 100))],
      ),
  },
  {
    asks: 'the Brier score of each settled market',
    sql: `SELECT t.title, avg(pow(t.first_price - m.price, 2)) AS brier FROM v_trades t JOIN v_markets m USING (market_key)
      WHERE m.status = 'settled' GROUP BY t.title ORDER BY t.title`,
    expected: () =>
      grouped(
        TRADES.filter(({ market }) => market.paid !== null),
        ({ market }) => market.title,
        (rows) => [mean(rows.map((trade) => ((first(trade) - trade.market.paid!) / 100) ** 2))],
      ),
  },
  {
    asks: 'what buyers in settled markets earned on what they paid',
    sql: `SELECT sum(size * (if(outcome_index = 0, m.price, 1 - m.price) - t.price)) / toFloat64(sum(notional)) AS earned
      FROM v_trades t JOIN v_markets m ON t.market_key = m.market_key WHERE side = 'buy' AND status = 'settled'`,
    expected: () => {
      const bought = TRADES.filter(({ market, side }) => market.paid !== null && side === 'buy');
      const profits = bought.map(({ market, outcome, cents, size }) => {
        return (size * ((outcome === 0 ? market.paid! : 100 - market.paid!) - cents)) / 100;
      });
      return [[sum(profits) / sum(bought.map(usd))]];
    },
  },
  {
    asks: 'daily bars of a market',
    sql: `SELECT time, open, high, low, close, volume FROM v_candles WHERE market_id = 'KXB' AND interval = '1d' ORDER BY time`,
    expected: () =>
      grouped(
        of('KXB'),
        ({ atMs }) => `${day(atMs)} 00:00:00`,
        (rows) => {
          const prices = rows.map((row) => first(row) / 100);
          const ends = [prices[0]!, Math.max(...prices), Math.min(...prices), prices.at(-1)!];
          return [...ends, sum(rows.map(({ size }) => size))];
        },
      ),
  },
  {
    asks: 'the move of the close from day to day',
    sql: `SELECT toDate(time) AS day, close - lagInFrame(close) OVER (ORDER BY time) AS move FROM v_candles
      WHERE title = 'Will B win?' AND interval = '1d' ORDER BY day`,
    expected: () => {
      const closes = grouped(
        of('KXB'),
        ({ atMs }) => day(atMs),
        (rows) => [first(rows.at(-1)!)],
      );
      return closes.map(([name, close], n) => [
        name!,
        n === 0 ? null : (Number(close) - Number(closes[n - 1]?.[1])) / 100,
      ]);
    },
  },
  {
    asks: 'the running total of USD',
    sql: 'SELECT toDate(time) AS day, sum(sum(notional)) OVER (ORDER BY day) AS usd FROM v_trades GROUP BY day ORDER BY day',
    expected: () =>
      grouped(
        TRADES,
        ({ atMs }) => day(atMs),
        (_rows, name) => [sum(TRADES.filter(({ atMs }) => day(atMs) <= name).map(usd))],
      ),
  },
  {
    asks: 'the order flow of each market',
    sql: `SELECT title, sumIf(size, side = 'buy') - sumIf(size, side = 'sell') AS flow, sum(if(side = 'buy', size, -size)) AS same
      FROM v_trades GROUP BY title ORDER BY title`,
    expected: () =>
      grouped(
        TRADES,
        ({ market }) => market.title,
        (rows) => {
          const flow = sum(rows.map(({ side, size }) => (side === 'buy' ? size : -size)));
          return [flow, flow];
        },
      ),
  },
  {
    asks: 'the share of each platform',
    sql: `SELECT platform, sum(price * size) / (SELECT sum(notional) FROM v_trades) AS share FROM v_trades GROUP BY platform ORDER BY platform`,
    expected: () =>
      grouped(
        TRADES,
        ({ market }) => market.platform,
        (rows) => [sum(rows.map(usd)) / sum(TRADES.map(usd))],
      ),
  },
  {
    asks: 'wallets a day',
    sql: `SELECT toDate(time) AS day, count(DISTINCT trader) AS wallets FROM v_trades WHERE trader != '' GROUP BY day ORDER BY day`,
    expected: () =>
      grouped(
        TRADES.filter(({ wallet }) => wallet !== ''),
        ({ atMs }) => day(atMs),
        (rows) => [new Set(rows.map(({ wallet }) => wallet)).size],
      ),
  },
  {
    asks: 'what trades paid above the bid before them',
    sql: `SELECT t.title, avg(t.first_price - q.bid) AS above FROM v_trades t ASOF JOIN v_quotes q ON t.market_key = q.market_key AND t.time >= q.time
      GROUP BY t.title ORDER BY t.title`,
    expected: () =>
      grouped(
        TRADES,
        ({ market }) => market.title,
        (rows) => {
          return [mean(rows.map((trade) => (first(trade) - bid(trade)) / 100))];
        },
      ),
  },
  {
    asks: 'the trades of some hours, and of a market by its address',
    sql: `SELECT countIf(toHour(time) < 12), countIf(time >= '2026-01-10' AND time < '2026-01-11 12:00:00'), countIf(price BETWEEN 0.2 AND 0.4), countIf(market_id = '501')
      FROM v_trades`,
    expected: () => {
      const [from, to] = [START + 5 * DAY, START + 6.5 * DAY];
      return [
        [
          count(({ atMs }) => (atMs % DAY) / HOUR < 12),
          count(({ atMs }) => atMs >= from && atMs < to),
          count(({ cents }) => cents >= 20 && cents <= 40),
          of('501').length,
        ],
      ];
    },
  },
];
