import type { FastifyReply, FastifyRequest } from 'fastify';
import { KNOWN_SECONDS } from '../accounts/known-devices.ts';
import { isLoopbackHost } from '../core/client-address.ts';
import { SESSION_SECONDS } from '../accounts/sessions.ts';

const isTls = (request: FastifyRequest, publicUrl: string | undefined): boolean =>
  publicUrl?.startsWith('https:') === true || request.protocol === 'https';

/** `session` identifies who is logged in, `device` a browser with an earlier login. */
type Cookie = 'session' | 'device';

/** Clients know the session by its name. The prefix __Host- keeps other hosts of the domain, and plain http, from setting `device`. */
function nameOf(cookie: Cookie, request: FastifyRequest, publicUrl: string | undefined): string {
  if (cookie === 'session') return 'jwt';
  return isTls(request, publicUrl) ? '__Host-device' : 'device';
}

export const readCookie = (cookie: Cookie, request: FastifyRequest, publicUrl?: string): string | undefined =>
  request.cookies[nameOf(cookie, request, publicUrl)];

/** Not Secure only over plain http to this machine, where browsers would drop a Secure cookie. */
const attributes = (request: FastifyRequest, publicUrl: string | undefined) => ({
  httpOnly: true,
  sameSite: 'lax' as const,
  path: '/',
  secure: isTls(request, publicUrl) || !isLoopbackHost(request.hostname),
});

export function setCookie(
  cookie: Cookie,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  publicUrl?: string,
): void {
  const maxAge = cookie === 'session' ? SESSION_SECONDS : KNOWN_SECONDS;
  reply.setCookie(nameOf(cookie, request, publicUrl), token, { ...attributes(request, publicUrl), maxAge });
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply, publicUrl?: string): void {
  reply.clearCookie(nameOf('session', request, publicUrl), attributes(request, publicUrl));
}
