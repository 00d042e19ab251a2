import { json, type SimReply, type SimRequest } from '../lib/index.ts';
import { authenticate, type Call } from './auth.ts';
import * as cancels from './cancels.ts';
import type { Profile } from './members.ts';
import * as queries from './order-queries.ts';
import { orderBody, profileRow } from './order-rows.ts';
import { createOrder } from './placing.ts';
import { allowance, history, positions } from './portfolio.ts';
import { notFound, refuse, UUID_V4 } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

/** Orders, profiles and portfolios: all but two of these calls are signed. null when the path is none of them. */
export async function tradingRoute(world: LimitlessWorld, request: SimRequest): Promise<SimReply | null> {
  const [area = '', key = '', part = '', ...rest] = request.path.split('/').slice(1).map(decodeURIComponent);
  if (rest.length > 0) return null;
  const line = `${request.method} /${area}`;
  const call = (scope: string | null = null): Call => ({
    world,
    request,
    profile: authenticate(request, world.members, world.clock.now(), scope),
  });
  if (line === 'GET /profiles') return json(200, profileRow(key === 'me' ? call().profile : memberAt(world, key)));
  if (line === 'GET /portfolio') {
    if (part === 'positions') return positions(world, world.members.withAddress(key));
    if (part === 'history') return history(world.members.withAddress(key), request);
    if (key === 'positions') return positions(world, call().profile);
    if (key === 'trading' && part === 'allowance') return allowance(call().profile, request);
    if (key === 'history') return history(call().profile, request);
  }
  if (line === 'GET /markets' && part === 'user-orders') return queries.userOrders(call(), key);
  if (line === 'GET /markets' && part === 'locked-balance') return queries.lockedBalance(call(), key);
  if (line === 'DELETE /orders') return deleteRoute(call('trading'), key, part);
  if (line === 'POST /orders') return postRoute(call('trading'), [key, part].filter((word) => word !== '').join('/'));
  return null;
}

async function postRoute(call: Call, action: string): Promise<SimReply | null> {
  const body = bodyOf(call.request);
  switch (action) {
    case '':
      return json(201, orderBody(call.world, await createOrder(call, body), 'created'));
    case 'cancel':
      call.world.maintenance.refuseCancel();
      return cancels.cancelOne(call, cancels.named(call, body));
    case 'cancel-batch':
    case 'batch-cancel':
      call.world.maintenance.refuseCancel();
      return cancels.cancelBatch(call, body);
    case 'cancel-replace':
      return cancels.cancelReplace(call, body);
    case 'cancel-replace/batch':
      return cancels.cancelReplaceBatch(call, body);
    case 'status/batch':
      return queries.statusBatch(call, body);
    default:
      return null;
  }
}

/** A DELETE must come without a body and without a content type. */
function deleteRoute(call: Call, key: string, part: string): SimReply | null {
  if (call.request.headers['content-type'] !== undefined || call.request.body !== '')
    throw refuse(400, 'Body cannot be empty');
  call.world.maintenance.refuseCancel();
  if (key === 'all' && part !== '') return cancels.cancelAll(call, part);
  if (part !== '' || key === '') return null;
  if (!UUID_V4.test(key)) throw refuse(400, 'orderId must be a UUIDv4');
  return cancels.cancelOne(call, call.world.desk.orders.get(key));
}

function memberAt(world: LimitlessWorld, address: string): Profile {
  const profile = world.members.withAddress(address);
  if (!profile) throw notFound(`Profile not found: ${address}`);
  return profile;
}

function bodyOf({ body }: SimRequest): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw refuse(400, 'Body is not valid JSON');
  }
}
