import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { addressOf } from './address.ts';
import type { ApiKeys } from './api-keys.ts';
import type { Config } from './config.ts';
import { ApiError, badRequest } from './errors.ts';
import { setLimitHeaders, tooMany, type RateLimits } from './rate-limit.ts';
import type { Sessions } from './sessions.ts';
import type { Tier } from './tables.ts';

/** What a route asks for: an API key, a session cookie, or nothing. */
export type AuthMode = 'key' | 'session' | 'none';

interface Person {
  userId: string;
  tier: Tier;
}
export interface KeyCaller extends Person {
  kind: 'key';
  keyId: string;
}
export interface SessionCaller extends Person {
  kind: 'session';
  sessionId: string;
}
export type Caller = KeyCaller | SessionCaller;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** Why there is no caller although the request named one; the guard throws it where a caller is needed. */
    refusal: Error | null;
  }
  interface FastifyContextConfig {
    auth?: AuthMode;
    limit?: 'address' | 'login';
    /** Schema of a success's body: tests hold answers against it. */
    answer?: z.ZodType;
    /** How OpenAPI describes what leaves through answerStored. */
    stored?: 'rows' | 'whole' | undefined;
  }
}

export const callerOf = (request: FastifyRequest): Caller | null => request.caller;
const modeOf = (request: FastifyRequest): AuthMode => request.routeOptions.config.auth ?? 'none';

const unauthorized = (message: string, resolution: string): ApiError => new ApiError(401, message, { resolution });
const KEY_HELP = 'Send a key made at POST /v1/api/auth/api-keys as X-API-Key or Authorization: Bearer.';
const SESSION_HELP = 'Log in at POST /v1/api/auth/login and send the cookie.';

/**
 * Goes on at once where there is nothing to wait for: the turns of promises take a cached answer longer than what they wait for.
 */
export const after = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

/** Hook 1: finds out who calls. Never refuses, so that even refusals are counted. */
export function identify(request: FastifyRequest, keys: ApiKeys, sessions: Sessions): void | Promise<void> {
  // A cookie says nothing on a data endpoint: browsers send it along unasked.
  const cookie = modeOf(request) === 'key' ? undefined : request.cookies.jwt;
  return cookie === undefined ? identifyByKey(request, keys) : identifyBySession(request, cookie, keys, sessions);
}

async function identifyBySession(request: FastifyRequest, cookie: string, keys: ApiKeys, sessions: Sessions) {
  try {
    request.caller = await sessions.find(cookie);
    if (!request.caller) await identifyByKey(request, keys);
  } catch (error) {
    request.refusal = error as Error;
  }
}

function identifyByKey(request: FastifyRequest, keys: ApiKeys): void | Promise<void> {
  try {
    const key = givenKey(request);
    if (key === null) return;
    const found = keys.find(key, request.ip);
    if (found instanceof Promise) return identifyLate(request, found);
    callBy(request, found);
  } catch (error) {
    request.refusal = error as Error;
  }
}

async function identifyLate(request: FastifyRequest, found: Promise<KeyCaller | null>): Promise<void> {
  try {
    callBy(request, await found);
  } catch (error) {
    request.refusal = error as Error;
  }
}

function callBy(request: FastifyRequest, caller: KeyCaller | null): void {
  request.caller = caller;
  if (!caller) request.refusal = unauthorized('Invalid API key', KEY_HELP);
}

/** The API key of the request, null when it names none; 400 when its two headers differ. */
function givenKey(request: FastifyRequest): string | null {
  const named = request.headers['x-api-key'];
  const header = Array.isArray(named) ? named.join(', ') : named;
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (header !== undefined && bearer !== undefined && header !== bearer) {
    const received = 'two different keys';
    throw badRequest([
      { field: 'X-API-Key', expected: 'the key of Authorization, or one of the two headers', received },
    ]);
  }
  return header ?? bearer ?? null;
}

/** Hook 2: counts the request against its caller, or its address, and says so in the headers. */
export function limit(request: FastifyRequest, reply: FastifyReply, limits: RateLimits): void | Promise<void> {
  const { caller } = request;
  const login = request.routeOptions.config.limit === 'login';
  const counted =
    caller && !login
      ? limits.count(caller.tier, caller.userId)
      : limits.count(login ? 'login' : 'address', `${login ? request.routeOptions.url : ''}${addressOf(request.ip)}`);
  return after(counted, (count) => {
    setLimitHeaders(reply, count);
    if (!count.allowed) throw tooMany(count, caller && !login ? 'of one user, all keys together' : 'from one address');
  });
}

/** Hook 3: refuses who may not call this route. */
export function guard(request: FastifyRequest, config: Config): void {
  const { httpVersion, headers } = request.raw;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw badRequest([{ field: 'Host', expected: 'the name this service was called by', received: 'nothing' }]);
  }
  const mode = modeOf(request);
  if (mode !== 'key') refuseCrossSite(request, config);
  if (mode === 'none') return;
  if (request.refusal) throw request.refusal;
  if (mode === 'key' && request.caller === null) throw unauthorized('Missing API key', KEY_HELP);
  if (mode === 'session') {
    if (request.caller === null) throw unauthorized('Missing or invalid session', SESSION_HELP);
    if (request.caller.kind === 'key') {
      throw new ApiError(403, 'A session is needed, an API key is not enough', { resolution: SESSION_HELP });
    }
  }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses a request another site made the browser send: where cookies count, only our own pages may change state. */
function refuseCrossSite(request: FastifyRequest, config: Config): void {
  if (SAFE.has(request.method)) return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  const ours = [`${request.protocol}://${request.host}`, ...config.CORS_ORIGINS];
  if (config.PUBLIC_URL) ours.push(new URL(config.PUBLIC_URL).origin);
  const foreign = origin === undefined ? site === 'cross-site' || site === 'same-site' : !ours.includes(origin);
  if (!foreign) return;
  throw new ApiError(403, 'Cross-site request refused', {
    resolution: "Call from the service's own origin, or add yours to CORS_ORIGINS.",
  });
}
