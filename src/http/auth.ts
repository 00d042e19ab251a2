import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { clientNetwork, isLoopbackHost, isOfThisMachine } from '../core/client-address.ts';
import type { LoopbackUser } from '../accounts/loopback-user.ts';
import type { ApiKeys } from '../accounts/api-keys.ts';
import type { Config } from '../core/config.ts';
import type { Clock } from '../core/time.ts';
import { ApiError, badRequest } from '../core/errors.ts';
import { setLimitHeaders, tooMany, type RateCount, type RateLimits } from '../stores/shared/rate-limits.ts';
import type { Caller, KeyCaller } from '../accounts/caller.ts';
import type { Device, KnownDevices } from '../accounts/known-devices.ts';
import type { Sessions } from '../accounts/sessions.ts';
import { isPreflight } from './cors.ts';
import { readCookie } from './session-cookie.ts';
import type { Scope } from '../core/model.ts';

/**
 * What a route requires: an API key with the scope of its method (for reads a session cookie suffices), a session cookie,
 * either (the handler decides what a key may do), or nothing.
 */
export type AuthMode = 'key' | 'session' | 'either' | 'none';
/**
 * Which limit a call counts against. address: the caller's, or the address's if no caller is identified. login, device, file: that of
 * logins, of logins on a device, of files sent from memory and CORS preflights, for any caller. none: no limit; the headers say what is
 * left of `address`.
 */
export type LimitMode = 'address' | 'login' | 'device' | 'file' | 'none';

/** The form of stored data: a list of rows (as CSV, NDJSON, Parquet and Arrow too), one body, or a Parquet file. */
export type Stored = 'rows' | 'whole' | 'file';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** When the last look-up of the caller had ended; of a clock's `elapsed`. */
    identifiedAtMs: number;
    /** The browser that sent a device cookie; read only on routes with the limit `device`. */
    device: Device | null;
    /** Why the named caller was not identified; the guard throws it where a caller is needed. */
    refusal: Error | null;
    /** Cached by `routeOf`. */
    route?: FastifyContextConfig;
  }
  interface FastifyContextConfig {
    auth?: AuthMode;
    limit?: LimitMode;
    /** Its name in generated clients, and in metrics of cached answers. */
    operation?: string;
    /** Schema of a successful body: tests check answers against it. */
    answer?: z.ZodType;
    /** How OpenAPI describes what answerStored sends. */
    stored?: Stored | undefined;
    /** Its success is a stream of server-sent events. */
    streamed?: true | undefined;
    /** Media types of its success beside JSON. */
    types?: readonly string[] | undefined;
  }
}

/** The settings of the requested route; cached, because Fastify rebuilds `routeOptions` at each access. */
export const routeOf = (request: FastifyRequest): FastifyContextConfig =>
  (request.route ??= request.routeOptions.config);
const modeOf = (request: FastifyRequest): AuthMode => routeOf(request).auth ?? 'none';

const BEARER = /^Bearer +(\S+) *$/i;
/** Methods that change nothing. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

const unauthorized = (message: string, resolution: string): ApiError => new ApiError(401, message, { resolution });
const KEY_HELP = 'Send a key created at POST /v1/api/auth/api-keys as X-API-Key or Authorization: Bearer.';
const SESSION_HELP = 'Log in at POST /v1/api/auth/login and send the cookie.';

/** Continues synchronously if there is nothing to wait for: promise turns would take longer than the rest of a cached answer. */
export const thenOrNow = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

/** How long a write relies on its caller's look-up. Its body may take the whole request time-out to arrive. */
const IDENTIFIED_MS = 300;

interface Identification {
  config: Config;
  clock: Pick<Clock, 'elapsed'>;
  apiKeys: ApiKeys;
  sessions: Sessions;
  devices: KnownDevices;
  loopbackUser: LoopbackUser | null;
}

/** Hook 1: identifies the caller. It never rejects, so that rejected requests are counted too. */
export function identify(request: FastifyRequest, services: Identification): void | Promise<void> {
  const { config, clock, apiKeys: keys, sessions, devices, loopbackUser } = services;
  const { PUBLIC_URL } = config;
  if (routeOf(request).limit === 'device') {
    request.device = devices.read(readCookie('device', request, PUBLIC_URL));
  }
  const mode = modeOf(request);
  // Browsers send cookies by themselves: on a data endpoint a cookie may only read, and an API key takes precedence.
  const keyOnly = mode === 'key' && (!SAFE.has(request.method) || namesKey(request));
  const cookie = keyOnly ? undefined : readCookie('session', request, PUBLIC_URL);
  const named =
    cookie === undefined ? identifyByKey(request, keys) : identifyBySession(request, cookie, keys, sessions);
  const found =
    loopbackUser === null || mode !== 'key'
      ? named
      : thenOrNow(named, () => identifyByAddress(request, config, loopbackUser));
  return thenOrNow(found, () => void (request.identifiedAtMs = clock.elapsed()));
}

/** A read from this machine without a key counts as LOOPBACK_USER. Requests that a web page of another site makes do not. */
function identifyByAddress(request: FastifyRequest, config: Config, user: LoopbackUser): void | Promise<void> {
  const { caller, refusal, ip, headers, hostname } = request;
  if (caller || refusal || !SAFE.has(request.method) || !isOfThisMachine(ip, headers)) return;
  // Another site may let its own name resolve to this machine: only loopback names count.
  if (!isLoopbackHost(hostname) || isForeignOrigin(request, config)) return;
  return identifyLate(request, user());
}

const namesKey = ({ headers }: FastifyRequest): boolean =>
  headers['x-api-key'] !== undefined || BEARER.test(headers.authorization ?? '');

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
export function givenKey(request: FastifyRequest): string | null {
  const named = request.headers['x-api-key'];
  const header = Array.isArray(named) ? named.join(', ') : named;
  const bearer = BEARER.exec(request.headers.authorization ?? '')?.[1];
  if (header !== undefined && bearer !== undefined && header !== bearer) {
    const received = 'two different keys';
    throw badRequest([
      { field: 'X-API-Key', expected: 'the key of Authorization, or one of the two headers', received },
    ]);
  }
  return header ?? bearer ?? null;
}

/** Hook 2: counts the request against its caller or its address, and sends the limit in the headers. */
export function limit(request: FastifyRequest, reply: FastifyReply, limits: RateLimits): void | Promise<void> {
  const { caller, device } = request;
  const mode = isPreflight(request) ? 'file' : (routeOf(request).limit ?? 'address');
  if (mode === 'file')
    return admit(reply, limits.count('file', clientNetwork(request.ip)), 'from one address, for pages');
  if (mode === 'none') return thenOrNow(leftOf(request, limits), (count) => setLimitHeaders(reply, count));
  if (device) return admit(reply, limits.count('login', `device:${device.id}`), 'on one device');
  if (mode !== 'address') return countLogin(request, reply, limits);
  if (!caller) return admit(reply, limits.count('address', clientNetwork(request.ip)), 'from one address');
  // Anyone can make free accounts, so those of one address share a limit. Tiers and limits that the operator gave are exempt.
  if (caller.tier !== 'free' || caller.requestsPerMinute !== null) return countCaller(reply, caller, limits);
  const network = limits.count('network', clientNetwork(request.ip));
  return thenOrNow(brake(reply, network, 'from one address, all its free accounts together'), () =>
    countCaller(reply, caller, limits),
  );
}

/** Counts one request against the limit of its user. Sends the remaining number in the headers; answers 429 if it is 0. */
export const countCaller = (reply: FastifyReply, caller: Caller, limits: RateLimits): void | Promise<void> =>
  admit(
    reply,
    limits.count(caller.tier, caller.userId, caller.requestsPerMinute),
    'of one user, all keys and sessions together',
  );

const leftOf = ({ caller, ip }: FastifyRequest, limits: RateLimits): RateCount | Promise<RateCount> =>
  caller
    ? limits.left(caller.tier, caller.userId, caller.requestsPerMinute)
    : limits.left('address', clientNetwork(ip));

/** Counts a login against its address. */
export function countLogin(request: FastifyRequest, reply: FastifyReply, limits: RateLimits): void | Promise<void> {
  const count = limits.count('login', `${request.routeOptions.url}${clientNetwork(request.ip)}`);
  return admit(reply, count, 'from one address');
}

/** A limit besides the one in the headers; when it is used up, the 429 describes this one. */
export function brake(
  reply: FastifyReply,
  counted: RateCount | Promise<RateCount>,
  whose: string,
): void | Promise<void> {
  return thenOrNow(counted, (count) => {
    if (count.allowed) return;
    setLimitHeaders(reply, count);
    throw tooMany(count, whose);
  });
}

/** Sends the remaining number in the headers; answers 429 if it is 0. `whose` completes "10 requests a minute …". */
function admit(reply: FastifyReply, counted: RateCount | Promise<RateCount>, whose: string): void | Promise<void> {
  return thenOrNow(counted, (count) => {
    setLimitHeaders(reply, count);
    if (!count.allowed) throw tooMany(count, whose);
  });
}

/** Hook 3: rejects callers who may not use this route. */
export function guard(request: FastifyRequest, config: Config): void {
  const { httpVersion, headers } = request.raw;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw badRequest([{ field: 'Host', expected: 'the host name of this service', received: 'nothing' }]);
  }
  const mode = modeOf(request);
  if (mode !== 'key') refuseCrossSite(request, config);
  if (mode === 'none') return;
  if (request.refusal) throw request.refusal;
  if (mode === 'key') {
    if (request.caller === null) throw unauthorized('Missing API key', KEY_HELP);
    // Sessions are identified here only for methods that read.
    if (request.caller.kind === 'key') requireScope(request.caller, SAFE.has(request.method) ? 'read' : 'trade');
  }
  if (mode === 'either' && request.caller === null) throw unauthorized('Missing API key or session', KEY_HELP);
  if (mode === 'session') {
    if (request.caller === null) throw unauthorized('Missing or invalid session', SESSION_HELP);
    if (request.caller.kind === 'key') {
      throw new ApiError(403, 'A session is required; an API key is not sufficient', { resolution: SESSION_HELP });
    }
  }
}

/** 403 if the key lacks the scope. */
export function requireScope(caller: KeyCaller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  throw new ApiError(403, `The API key lacks the scope ${scope}`, {
    resolution: 'Create a key with "scopes": ["read", "trade"], or those it needs, at POST /v1/api/auth/api-keys.',
    errorText: `scopes of this key: ${caller.scopes.join(', ')}`,
  });
}

/** Whether a page of another site made the browser send this. */
export function isForeignOrigin(request: FastifyRequest, config: Config): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const ours = [`${request.protocol}://${request.host}`, ...config.CORS_ORIGINS];
  if (config.PUBLIC_URL) ours.push(new URL(config.PUBLIC_URL).origin);
  return origin === undefined ? site === 'cross-site' || site === 'same-site' : !ours.includes(origin);
}

/** Hook 4: a write whose body arrived late needs a key or session that is still valid. */
export function identifyAgain(request: FastifyRequest, services: Identification): void | Promise<void> {
  if (modeOf(request) === 'none' || SAFE.has(request.method)) return;
  if (services.clock.elapsed() - request.identifiedAtMs < IDENTIFIED_MS) return;
  request.caller = null;
  request.refusal = null;
  return thenOrNow(identify(request, services), () => guard(request, services.config));
}

/** Rejects requests caused by other sites: where cookies count, only our own pages may change state. */
function refuseCrossSite(request: FastifyRequest, config: Config): void {
  if (SAFE.has(request.method) || !isForeignOrigin(request, config)) return;
  throw new ApiError(403, 'Cross-site request refused', {
    resolution: "Call from the service's own origin, or add yours to CORS_ORIGINS.",
  });
}
