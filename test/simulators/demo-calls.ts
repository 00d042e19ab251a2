import type { Platform } from '../../src/core/model.ts';

/** An open market that trades, and its first outcome. */
export interface DemoMarket {
  id: string;
  outcome: string;
}

/** What there is to ask about. */
export interface DemoFacts {
  /** http://127.0.0.1:PORT */
  url: string;
  apiKey: string;
  markets: Record<Platform, DemoMarket>;
  /** A Kalshi user and a Polymarket user, with trades and positions. */
  nickname: string;
  address: string;
  /** null = no SQL port. */
  sqlPort: number | null;
  /** Where its data is. */
  directory: string;
}

/** Commands to paste into a shell, by what they are about. The orders come first among those that name them. */
export function demoCalls({
  url,
  apiKey,
  markets,
  nickname,
  address,
  sqlPort,
  directory,
}: DemoFacts): Map<string, string[]> {
  const { kalshi, polymarket, limitless } = markets;
  const day = { end: Math.floor(Date.now() / 1000), start: Math.floor(Date.now() / 1000) - 86_400 };
  const get = (path: string): string => `curl -s -H 'X-API-Key: ${apiKey}' '${url}/v1/api/${path}'`;
  const post = (path: string, body: object): string =>
    `${get(path)} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const remove = (path: string): string => `${get(path)} -X DELETE`;
  const order = (platform: Platform, terms: object): string => {
    const { id: market_id, outcome } = markets[platform];
    return post('orders', { platform, market_id, side: 'buy', outcome, ...terms });
  };
  const sql = 'SELECT platform, count() AS trades, sum(notional) AS usd FROM v_trades GROUP BY platform';
  return new Map([
    [
      'Markets, order books, trades, history',
      [
        get('markets?provider=kalshi&status=open&limit=3'),
        get('markets?provider=polymarket&query=will&limit=3'),
        get(`markets/id/${limitless.id}?provider=limitless`),
        get(`markets/id/${kalshi.id}/orderbook?provider=kalshi`),
        get(`markets/id/${limitless.id}/orderbook?provider=limitless`),
        get(`markets/trades?provider=polymarket&market_id=${polymarket.id}&limit=5`),
        get(
          `markets/price-history?provider=kalshi&market_ids=${kalshi.id}&start_ts=${day.start}&end_ts=${day.end}&interval=60`,
        ),
      ],
    ],
    [
      'Users of the platforms',
      [
        get(`profile/trades?provider=kalshi&user=${nickname}&limit=5`),
        get(`profile/positions?provider=kalshi&user=${nickname}`),
        get(`profile/trades?provider=polymarket&user=${address}&limit=5`),
        get(`profile/positions?provider=polymarket&user=${address}`),
      ],
    ],
    [
      'Analytics',
      [
        get('trades/whales?min_size=100&limit=5'),
        get('analytics/trending?window=24h&limit=5'),
        get('analytics/categories'),
        get('analytics/calibration?horizon=1h'),
        get(`metrics/historical?platform=polymarket&market_id=${polymarket.id}&interval=1h`),
        get(`metrics/snapshot?platform=limitless&market_id=${limitless.id}`),
      ],
    ],
    [
      'Orders, through the default clients of the simulated platforms',
      [
        order('kalshi', {
          type: 'limit',
          price: 0.02,
          size: 10,
          idempotency_key: 'demo-1',
          client_order_id: 'demo-1',
        }),
        order('polymarket', { type: 'market', size: 100 }),
        order('limitless', { type: 'limit', time_in_force: 'ioc', price: 0.95, size: 10 }),
        get('orders?platform=limitless'),
        get('orders/client:demo-1?platform=kalshi'),
        remove('orders/client:demo-1?platform=kalshi'),
      ],
    ],
    [
      'Trades as they come, until Ctrl+C',
      [`curl -N -s -H 'X-API-Key: ${apiKey}' '${url}/v1/api/stream?channels=trades'`],
    ],
    [
      'The service itself, and SQL',
      [
        `curl -s '${url}/v1/api/health'`,
        `curl -s '${url}/v1/api/openapi.json'`,
        ...(sqlPort === null ? [] : [`curl -s -u 'demo:${apiKey}' 'http://127.0.0.1:${sqlPort}/' -d '${sql}'`]),
      ],
    ],
    [
      'Commands beside it; there are files to export after its first minute',
      [`npm run sql -- "${sql}"`, 'npm run export -- --to history', 'npm run user -- list'].map(
        (command) => `DATA_DIR=${directory} ${command}`,
      ),
    ],
  ]);
}
