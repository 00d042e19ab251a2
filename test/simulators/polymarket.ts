import { ZodError } from 'zod';
import {
  createSimServer,
  createSimSockets,
  json,
  simulatorOf,
  type SimReply,
  type SimRequest,
  type SimSockets,
} from './lib/index.ts';
import { ClobError } from './polymarket/clob/error.ts';
import { clobPrivate } from './polymarket/clob/private.ts';
import { clobPublic } from './polymarket/clob/public.ts';
import { Cdn } from './polymarket/data/cdn.ts';
import { data } from './polymarket/data/routes.ts';
import { gamma } from './polymarket/gamma/routes.ts';
import { activitySocket } from './polymarket/stream/activity.ts';
import { type MarketChannel, marketChannel } from './polymarket/stream/market-channel.ts';
import { userChannel } from './polymarket/stream/user-channel.ts';
import { createLimits } from './polymarket/limits.ts';
import { v2Refusal, V2Error } from './polymarket/data/v2-query.ts';
import { PolymarketWorld } from './polymarket/world/world.ts';
import type { Simulator, WorldOptions } from './simulator.ts';

export type { PolymarketWorld } from './polymarket/world/world.ts';

/** Gamma, the CLOB and the Data API over one seeded world, under /gamma, /clob and /data of one port, and their sockets. */
export async function startPolymarket(
  options: WorldOptions = {},
): Promise<Simulator<PolymarketWorld> & { sockets: SimSockets; stream: MarketChannel }> {
  const world = new PolymarketWorld(options);
  const limits = createLimits();
  const cdn = new Cdn();
  let refusals = 0;

  const channel = marketChannel(world);
  const sockets = createSimSockets({
    '/ws/market': channel,
    '/ws/user': userChannel(world),
    '/live': activitySocket(world),
  });
  const server = await createSimServer({
    upgrade: sockets.upgrade,
    clock: world.clock,
    async handle(request) {
      if (limits.enforced) {
        const verdict = limits.admit(`${request.method} ${request.path}`);
        if (verdict.kind === 'refuse') return tooMany(request.path, verdict.retryAfterSeconds, ++refusals);
        if (verdict.kind === 'hold') await new Promise((resolve) => setTimeout(resolve, verdict.delayMs));
      }
      world.advance();
      const reply = await answer(world, cdn, request);
      if (request.method !== 'GET') channel.sync();
      return reply;
    },
  });

  const env = {
    POLYMARKET_GAMMA_URL: `${server.origin}/gamma`,
    POLYMARKET_CLOB_URL: `${server.origin}/clob`,
    POLYMARKET_DATA_URL: `${server.origin}/data`,
    POLYMARKET_WS_URL: `${server.origin.replace('http', 'ws')}/ws/market`,
    POLYMARKET_LIVE_URL: `${server.origin.replace('http', 'ws')}/live`,
  };
  const trade = (count: number): void => world.makeTrades(count);
  const simulator = simulatorOf({ env, world, server, clock: world.clock, limits, trade });
  return Object.assign(simulator, { sockets, stream: channel });
}

function answer(world: PolymarketWorld, cdn: Cdn, request: SimRequest): SimReply | Promise<SimReply> {
  const [, base = ''] = request.path.split('/', 2);
  const path = decodeURIComponent(request.path.slice(base.length + 1)) || '/';
  if (base === 'gamma') return gamma(world, path, request);
  if (base === 'clob') return clob(world, path, request);
  if (base === 'data') return data(world, cdn, path, request);
  return json(404, { error: 'not found' });
}

async function clob(world: PolymarketWorld, path: string, request: SimRequest): Promise<SimReply> {
  try {
    const reply = clobPublic(world, path, request) ?? (await clobPrivate(world, path, request));
    return reply ?? json(404, { error: 'route not found' });
  } catch (error) {
    if (error instanceof ZodError) return json(400, { error: 'Invalid order payload' });
    if (error instanceof ClobError) return json(error.status, { error: error.message });
    throw error;
  }
}

/** A 429: v2 with Retry-After, elsewhere JSON without one, every third time Cloudflare's page. */
function tooMany(path: string, retryAfterSeconds: number, nth: number): SimReply {
  if (path.startsWith('/data/v2/')) {
    const refusal = new V2Error('rate limit exceeded', undefined, 429, 'rate_limited');
    return v2Refusal(refusal, { 'retry-after': String(retryAfterSeconds) });
  }
  if (nth % 3 !== 0) return json(429, { error: 'Too Many Requests' });
  const body =
    '<!DOCTYPE html><html><head><title>Access denied | Error 1015</title></head><body>You are being rate limited</body></html>';
  return { status: 429, body, headers: { 'content-type': 'text/html; charset=UTF-8' } };
}
