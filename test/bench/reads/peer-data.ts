import type pg from 'pg';
import type { Platform } from '../../../src/core/model.ts';
import type { Refs } from './routes.ts';

/** Rows of one INSERT of the fill. */
const CHUNK_ROWS = 1_000_000;
const DAYS = 90;

const SCHEMA = `
CREATE TABLE markets (
  key int PRIMARY KEY, platform text NOT NULL, id text NOT NULL, slug text NOT NULL, title text NOT NULL, description text NOT NULL,
  status text NOT NULL, category text NOT NULL, event_id text NOT NULL, outcomes text[] NOT NULL, prices numeric[] NOT NULL,
  volume_24h numeric, volume_7d numeric, volume_total numeric, liquidity numeric, open_interest numeric, price_change_24h numeric,
  created_at timestamptz NOT NULL, ends_at timestamptz,
  search tsvector GENERATED ALWAYS AS (to_tsvector('simple', title)) STORED,
  UNIQUE (platform, id)
);
CREATE TABLE trades (
  id bigserial, market int NOT NULL, executed_at timestamptz NOT NULL, outcome smallint NOT NULL, side smallint NOT NULL,
  price numeric NOT NULL, size numeric NOT NULL, wallet bytea
);
CREATE TABLE candles (
  market int, at timestamptz, open numeric, high numeric, low numeric, close numeric, volume numeric, PRIMARY KEY (market, at)
);`;

/** Made after the rows, which is faster. */
const INDEXES = `
CREATE INDEX ON markets (platform, volume_24h DESC);
CREATE INDEX ON markets (platform, volume_total DESC);
CREATE INDEX ON markets (platform, liquidity DESC);
CREATE INDEX ON markets (platform, category, volume_24h DESC);
CREATE INDEX ON markets (abs(price_change_24h) DESC) WHERE status = 'open';
CREATE INDEX ON markets USING gin (search);
CREATE INDEX ON trades (market, executed_at DESC);
CREATE INDEX ON trades (executed_at DESC) WHERE size >= 1000;
CREATE INDEX ON trades (size DESC) WHERE size >= 1000;
INSERT INTO candles SELECT market, date_trunc('hour', executed_at), (array_agg(price ORDER BY executed_at))[1], max(price), min(price),
  (array_agg(price ORDER BY executed_at DESC))[1], sum(size) FROM trades GROUP BY 1, 2;
CREATE MATERIALIZED VIEW categories AS SELECT platform, category, count(*) FILTER (WHERE status = 'open') AS active_markets,
  sum(volume_24h) AS volume_24h, sum(volume_total) AS volume_total, avg(liquidity) AS liquidity FROM markets GROUP BY 1, 2;
VACUUM ANALYZE;`;

/** The markets of the service, and as many trades of the same distribution. */
export async function fillPeer(pool: pg.Pool, refs: Refs, trades: number): Promise<void> {
  await pool.query(SCHEMA);
  const markets = inOrder(refs);
  await pool.query(
    `INSERT INTO markets
     SELECT n - 1, platform, id, concat('bench-market-', n - 1), concat('Will number ', n - 1, ' come out on top?'), 'Resolves to the first outcome if it happens.',
       CASE WHEN n % 4 IN (0, 1) THEN 'open' ELSE 'settled' END,
       (ARRAY['sports', 'crypto', 'politics', 'economy', 'finance', 'geopolitics', 'culture', 'weather-futures'])[1 + floor(8 * random())::int],
       concat('E', n / 5), ARRAY['yes', 'no'], ARRAY[0.4, 0.6], 33333.0 / n, 200000.0 / n, 1000000.0 / n, round((5000 * random())::numeric, 6), 500000.0 / n,
       round((0.1 * random() - 0.05)::numeric, 3), now() - interval '${DAYS} days', now() + interval '1 day' * (n % 60)
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS m (platform, id, n)`,
    [markets.map(([platform]) => platform), markets.map(([, ref]) => ref)],
  );
  for (let from = 0; from < trades; from += CHUNK_ROWS) {
    await pool.query(
      `INSERT INTO trades (market, executed_at, outcome, side, price, size, wallet)
       SELECT floor($2 * power(random(), 3)), now() - interval '${DAYS} days' * (1 - n::float / $3), floor(2 * random()), floor(2 * random()),
         round((0.05 + 0.9 * random())::numeric, 2), round(exp(3.5 + 1.8 * sqrt(-2 * ln(1 - random())) * cos(6.283185307 * random()))::numeric, 2),
         decode(md5(floor(200000 * power(random(), 2))::text), 'hex')
       FROM generate_series($1::int, $4::int) AS n`,
      [from + 1, markets.length, trades, Math.min(from + CHUNK_ROWS, trades)],
    );
  }
  for (const statement of INDEXES.split(';').filter((text) => text.trim() !== '')) await pool.query(statement);
}

/** The markets in the order in which the service's store was filled: of ten, five of Kalshi, four of Polymarket, one of Limitless. */
function inOrder(refs: Refs): [Platform, string][] {
  const total = Object.values(refs).reduce((sum, { length }) => sum + length, 0);
  const next: Record<Platform, number> = { kalshi: 0, polymarket: 0, limitless: 0 };
  return Array.from({ length: total }, (_, i) => {
    const platform = i % 10 < 5 ? 'kalshi' : i % 10 < 9 ? 'polymarket' : 'limitless';
    return [platform, refs[platform][next[platform]++] ?? ''];
  });
}

/** Stores as many trades at once as the peer gets each second, with their candles and totals. */
export async function storeTrades(pool: pg.Pool, count: number, markets: number): Promise<void> {
  await pool.query({
    name: 'store-trades',
    text: `WITH new AS (
       INSERT INTO trades (market, executed_at, outcome, side, price, size, wallet)
       SELECT floor($2::int * power(random(), 3)), now(), 0, 0, round((0.05 + 0.9 * random())::numeric, 2), 10, decode(md5(n::text), 'hex')
       FROM generate_series(1, $1::int) AS n RETURNING market, executed_at, price, size),
     volumes AS (SELECT market, sum(size * price) AS volume, sum(size) AS size, max(price) AS price FROM new GROUP BY 1),
     candles AS (
       INSERT INTO candles AS c SELECT market, date_trunc('hour', now()), price, price, price, price, size FROM volumes
       ON CONFLICT (market, at) DO UPDATE SET high = greatest(c.high, excluded.high), low = least(c.low, excluded.low),
         close = excluded.close, volume = c.volume + excluded.volume)
     UPDATE markets SET volume_24h = volume_24h + v.volume, volume_total = volume_total + v.volume, prices = ARRAY[v.price, 1 - v.price]
     FROM volumes AS v WHERE key = v.market`,
    values: [count, markets],
  });
}
