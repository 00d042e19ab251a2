import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SimRequest } from '../lib/index.ts';
import type { Members, Profile } from './members.ts';
import { refuse } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

/** A signed request and whose it is. */
export interface Call {
  world: LimitlessWorld;
  request: SimRequest;
  profile: Profile;
}

const SKEW_MS = 30_000;

/**
 * Whose request this is: an HMAC scoped token, signed over the exact bytes of time, method, path with query, and body.
 * Throws 401 for anything missing, stale or wrong, 403 for a token without the scope.
 */
export function authenticate(request: SimRequest, members: Members, now: number, scope: string | null): Profile {
  const { 'lmts-api-key': token, 'lmts-timestamp': timestamp, 'lmts-signature': signature } = request.headers;
  if (!token || !timestamp || !signature) throw refuse(401, 'Authentication required');
  const profile = members.withToken(token);
  if (!profile) throw refuse(401, 'Invalid API token');
  const at = Date.parse(timestamp);
  if (Number.isNaN(at) || Math.abs(now - at) > SKEW_MS)
    throw refuse(401, 'Request timestamp is outside of the allowed window');
  const message = `${timestamp}\n${request.method}\n${request.target}\n${request.body}`;
  const wanted = createHmac('sha256', Buffer.from(profile.secret, 'base64')).update(message).digest();
  const given = Buffer.from(signature, 'base64');
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw refuse(401, 'Invalid signature');
  if (scope !== null && !profile.scopes.includes(scope)) throw refuse(403, `Missing required scope: ${scope}`);
  return profile;
}
