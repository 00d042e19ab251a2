import type { FastifyInstance } from 'fastify';
import type pg from 'pg';

const FIELDS = `platform, id, slug, title, description, status, category, event_id, outcomes, prices, volume_24h, volume_7d, volume_total,
  liquidity, open_interest, price_change_24h, created_at, ends_at`;
const KEY = '(SELECT key FROM markets WHERE platform = $1 AND id = $2)';
const SORTS: Record<string, string> = {
  volume_24h: 'volume_24h DESC',
  volume_total: 'volume_total DESC',
  liquidity: 'liquidity DESC',
};

type Query = Record<string, string | undefined>;

/** The reads of the mix as one statement each, prepared, their rows sent as they come. */
export function answerReads(app: FastifyInstance, pool: pg.Pool): void {
  const rowsOf = async (name: string, text: string, values: unknown[]): Promise<unknown[]> =>
    (await pool.query({ name, text, values })).rows;
  const get = (path: string, read: (query: Query, params: Query) => Promise<unknown[]>): void => {
    app.get(`/v1/api/${path}`, async ({ query, params }) => ({ data: await read(query as Query, params as Query) }));
  };

  get('markets/id/:id', ({ provider }, { id }) =>
    rowsOf('id', `SELECT ${FIELDS} FROM markets WHERE platform = $1 AND id = $2`, [provider, id]),
  );
  get('markets', async ({ provider, limit = 50, sort = '', min_liquidity: least = 0, category, query, market_ids }) => {
    if (market_ids !== undefined)
      return rowsOf('ids', `SELECT ${FIELDS} FROM markets WHERE platform = $1 AND id = ANY($2)`, [
        provider,
        market_ids.split(','),
      ]);
    const from = `SELECT ${FIELDS} FROM markets WHERE platform = $1 AND liquidity >= $2`;
    const by = SORTS[sort] ?? 'volume_24h DESC';
    if (query !== undefined)
      return rowsOf('search', `${from} AND search @@ to_tsquery('simple', $3) ORDER BY volume_24h DESC LIMIT $4`, [
        provider,
        least,
        query
          .split(' ')
          .map((word) => `${word}:*`)
          .join(' & '),
        limit,
      ]);
    if (category !== undefined)
      return rowsOf(`category ${by}`, `${from} AND category = $3 ORDER BY ${by} LIMIT $4`, [
        provider,
        least,
        category,
        limit,
      ]);
    return rowsOf(`list ${by}`, `${from} ORDER BY ${by} LIMIT $3`, [provider, least, limit]);
  });
  get('markets/trades', ({ provider, market_id: id, limit }) =>
    rowsOf('trades', `SELECT * FROM trades WHERE market = ${KEY} ORDER BY executed_at DESC LIMIT $3`, [
      provider,
      id,
      limit,
    ]),
  );
  get('markets/prices', ({ provider, market_ids = '' }) =>
    rowsOf(
      'prices',
      `SELECT m.id, t.price, t.executed_at FROM markets AS m
       LEFT JOIN LATERAL (SELECT price, executed_at FROM trades WHERE market = m.key ORDER BY executed_at DESC LIMIT 1) AS t ON true
       WHERE m.platform = $1 AND m.id = ANY($2)`,
      [provider, market_ids.split(',')],
    ),
  );
  get('metrics/snapshot', ({ platform, market_id: id }) =>
    rowsOf(
      'snapshot',
      `SELECT ${FIELDS}, (SELECT sum(volume) FROM candles WHERE market = m.key AND at > now() - interval '1 day') AS contracts_24h
       FROM markets AS m WHERE platform = $1 AND id = $2`,
      [platform, id],
    ),
  );
  get('markets/price-history', ({ provider, market_ids: id, start_ts: start, end_ts: end }) =>
    rowsOf(
      'history',
      `SELECT * FROM candles WHERE market = ${KEY} AND at >= to_timestamp($3) AND at < to_timestamp($4) ORDER BY at`,
      [provider, id, start, end],
    ),
  );
  get('metrics/historical', ({ platform, market_id: id, start_ts: start }) =>
    rowsOf('metrics', `SELECT * FROM candles WHERE market = ${KEY} AND at >= to_timestamp($3) ORDER BY at`, [
      platform,
      id,
      start,
    ]),
  );
  get('trades/whales', ({ limit, sort, min_size: least }) => {
    const by = sort === 'size' ? 't.size DESC' : 't.executed_at DESC';
    return rowsOf(
      `whales ${by}`,
      `SELECT t.*, m.id, m.title FROM trades AS t JOIN markets AS m ON m.key = t.market
       WHERE t.size >= 1000 AND t.size >= $1 ORDER BY ${by} LIMIT $2`,
      [least, limit],
    );
  });
  get('analytics/trending', ({ limit, category = null }) =>
    rowsOf(
      'trending',
      `SELECT ${FIELDS} FROM markets WHERE status = 'open' AND ($1::text IS NULL OR category = $1)
       ORDER BY abs(price_change_24h) DESC LIMIT $2`,
      [category, limit],
    ),
  );
  get('analytics/categories', ({ platform = null }) =>
    rowsOf('categories', 'SELECT * FROM categories WHERE $1::text IS NULL OR platform = $1', [platform]),
  );
}
