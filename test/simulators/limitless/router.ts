import { json, type SimReply, type SimRequest } from '../lib/index.ts';
import * as discovery from './discovery.ts';
import * as feeds from './feeds.ts';
import { notFound } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

/** What anybody may read. null when the path is none of it. */
export function publicRoute(world: LimitlessWorld, request: SimRequest): SimReply | null {
  if (request.method !== 'GET') return null;
  const [area = '', key = '', part = '', ...rest] = request.path.split('/').slice(1).map(decodeURIComponent);
  if (rest.length > 0) return null;
  if (area === 'categories' && key === '') return discovery.categories();
  if (area === 'maintenance' && key === 'status') return json(200, world.maintenance.body());
  return area === 'markets' ? marketRoute(world, request, key, part) : null;
}

function marketRoute(world: LimitlessWorld, request: SimRequest, key: string, part: string): SimReply | null {
  if (key === 'active') {
    return part === 'slugs'
      ? discovery.activeSlugs(world)
      : discovery.active(world, request, part === '' ? null : part);
  }
  if (key === 'search' && part === '') return discovery.search(world, request);
  if (key === 'timeline' && part === '') return discovery.timeline(world, request, null);
  if (key === 'categories' && part === 'count') return discovery.categoryCounts(world);
  if (key === '') throw notFound('Cannot GET /markets');
  switch (part) {
    case '':
      return discovery.one(world, key);
    case 'timeline':
      return discovery.timeline(world, request, key);
    case 'orderbook':
      return feeds.orderbook(world, key);
    case 'historical-price':
      return feeds.historicalPrice(world, request, key);
    case 'oracle-candles':
      return feeds.oracleCandles(world, request, key);
    case 'events':
      return feeds.events(world, request, key);
    case 'get-feed-events':
      return feeds.feedEvents(world, request, key);
    default:
      return null;
  }
}
