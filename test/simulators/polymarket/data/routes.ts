import { json, type SimReply, type SimRequest } from '../../lib/index.ts';
import type { PolymarketWorld } from '../world/world.ts';
import type { Cdn } from './cdn.ts';
import { dataV1, DataError } from './v1.ts';
import { v2Refusal, V2Error } from './v2-query.ts';
import { dataV2 } from './v2.ts';

const DEPRECATION = {
  deprecation: 'true',
  sunset: 'Sat, 24 Oct 2026 00:00:00 GMT',
  warning: '299 - "use /v2"',
};

/** The Data API: version 2 behind its CDN, version 1 as `world.dataApi` has it. */
export function data(world: PolymarketWorld, cdn: Cdn, path: string, { query, target }: SimRequest): SimReply {
  if (path.startsWith('/v2/')) {
    const answer = (): SimReply => version2(world, path.slice(3), query);
    return world.dataApi.cdn ? cdn.serve(target, world.now(), answer) : answer();
  }
  const { v1 } = world.dataApi;
  if (typeof v1 === 'number') return json(v1, { error: v1 === 410 ? 'Data API v1 is retired' : 'not found' });
  const reply = version1(world, path, query);
  return v1 === 'deprecated' ? { ...reply, headers: { ...reply.headers, ...DEPRECATION } } : reply;
}

function version1(world: PolymarketWorld, path: string, query: URLSearchParams): SimReply {
  try {
    return dataV1(world, path, query) ?? json(404, { error: 'not found' });
  } catch (error) {
    if (error instanceof DataError) return json(400, { error: error.message });
    throw error;
  }
}

function version2(world: PolymarketWorld, path: string, query: URLSearchParams): SimReply {
  try {
    return dataV2(world, path, query);
  } catch (error) {
    if (error instanceof V2Error) return v2Refusal(error);
    throw error;
  }
}
