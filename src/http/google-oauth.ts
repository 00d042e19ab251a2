import type { OAuth2Namespace } from '@fastify/oauth2';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { request as fetch } from 'undici';
import { z } from 'zod';
import { systemClock } from '../core/time.ts';
import type { Identity } from '../accounts/users.ts';
import type { Config } from '../core/config.ts';
import { ApiError } from '../core/errors.ts';
import { isStorableText } from '../core/fields.ts';

declare module 'fastify' {
  interface FastifyInstance {
    google: OAuth2Namespace;
  }
}

const CALLBACK = '/v1/api/auth/google/callback';
const TIMEOUT_MS = 10_000;

/** Prepares the authorization code flow with PKCE and state; false when no client is configured. */
export async function setUpGoogle(app: FastifyInstance, config: Config): Promise<boolean> {
  const { GOOGLE_CLIENT_ID: id, GOOGLE_CLIENT_SECRET: secret } = config;
  if (id === undefined || secret === undefined) return false;
  // Loaded on demand: it would take a tenth of every start.
  const { default: oauth2 } = await import('@fastify/oauth2');
  const authorize = new URL(config.GOOGLE_AUTHORIZATION_URL);
  const token = new URL(config.GOOGLE_TOKEN_URL);
  const isHttps = config.PUBLIC_URL?.startsWith('https:') === true;
  await app.register(oauth2, {
    name: 'google',
    scope: ['openid', 'email', 'profile'],
    credentials: {
      client: { id, secret },
      auth: {
        authorizeHost: authorize.origin,
        authorizePath: `${authorize.pathname}${authorize.search}`,
        tokenHost: token.origin,
        tokenPath: `${token.pathname}${token.search}`,
      },
      http: { timeout: TIMEOUT_MS, maxBytes: 1_000_000 },
    },
    callbackUri: (request: FastifyRequest) =>
      `${config.PUBLIC_URL?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`}${CALLBACK}`,
    pkce: 'S256',
    // With the prefix __Host- their path is /; it keeps other hosts of the domain, and plain http, from setting them.
    hostPrefixedCookies: isHttps,
    cookie: { path: '/v1/api/auth/google', secure: isHttps || 'auto', httpOnly: true, sameSite: 'lax', maxAge: 600 },
  });
  return true;
}

const UserInfo = z.object({
  sub: z.string().min(1).refine(isStorableText),
  email: z.string().refine(isStorableText).optional(),
  email_verified: z.union([z.boolean(), z.enum(['true', 'false'])]).optional(),
  name: z.string().optional(),
});

const refused = (errorText: string, cause?: unknown): ApiError =>
  new ApiError(401, 'Sign-in refused', { resolution: 'Start again at GET /v1/api/auth/google.', errorText, cause });

/** Exchanges the callback's code for an identity; checks state and PKCE, and requires a verified e-mail. */
export async function identityOf(
  app: FastifyInstance,
  config: Config,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Identity> {
  const query = request.query as Record<string, unknown>;
  if (typeof query.error === 'string') throw refused('the identity provider did not authorize the sign-in');
  if (query.iss !== undefined && query.iss !== config.GOOGLE_ISSUER)
    throw refused('the response is from another issuer');
  const accessToken = await exchange(app, request, reply);
  const person = await userInfo(config, accessToken);
  const email = person.email?.trim().toLowerCase() ?? '';
  if (email === '' || String(person.email_verified) !== 'true') {
    throw new ApiError(403, 'The e-mail is not verified', {
      resolution: 'Verify the e-mail at the identity provider, or register with a password.',
    });
  }
  return { issuer: config.GOOGLE_ISSUER, subject: person.sub, email, name: storableName(person.name ?? '') };
}

/** A name is never rejected: characters that cannot be stored are removed, and none is cut in half. */
const storableName = (name: string): string =>
  name
    .toWellFormed()
    .replaceAll('\0', '')
    .slice(0, 100)
    .replace(/[\uD800-\uDBFF]$/, '');

async function exchange(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  try {
    const { token } = await app.google.getAccessTokenFromAuthorizationCodeFlow(request, reply);
    return token.access_token;
  } catch (error) {
    const { output, message } = error as { output?: { statusCode?: number }; message?: string };
    if (message === 'Invalid state') throw refused('state: not the one issued to this browser', error);
    const status = output?.statusCode ?? 0;
    if (status >= 400 && status < 500) throw refused('the code is invalid, expired or used', error);
    throw providerDown(error);
  }
}

async function userInfo(config: Config, accessToken: string): Promise<z.output<typeof UserInfo>> {
  try {
    const { statusCode, body } = await fetch(config.GOOGLE_USERINFO_URL, {
      headers: { authorization: `Bearer ${accessToken}` },
      signal: systemClock.deadline(TIMEOUT_MS),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`userinfo answered ${statusCode}`);
    return UserInfo.parse(JSON.parse(text));
  } catch (error) {
    throw providerDown(error);
  }
}

const providerDown = (cause: unknown): ApiError =>
  new ApiError(503, 'The identity provider is unavailable', { resolution: 'Retry later.', retryAfter: 30, cause });
