import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_SECONDS } from './sessions.ts';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|.+\.localhost)$/;

/** false only on plain http to this very machine, where browsers would drop a Secure cookie. */
export function isSecureCookie(request: FastifyRequest, publicUrl: string | undefined): boolean {
  if (publicUrl?.startsWith('https:')) return true;
  return request.protocol === 'https' || !LOOPBACK.test(request.hostname);
}

export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  publicUrl?: string,
): void {
  const secure = isSecureCookie(request, publicUrl);
  reply.setCookie('jwt', token, { httpOnly: true, sameSite: 'lax', path: '/', secure, maxAge: SESSION_SECONDS });
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply, publicUrl?: string): void {
  reply.clearCookie('jwt', { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecureCookie(request, publicUrl) });
}
