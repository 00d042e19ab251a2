import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionCaller } from '../accounts/caller.ts';
import { passwordWeakness, verifyPassword } from '../accounts/passwords.ts';
import { findUser, type User } from '../accounts/users.ts';
import { ApiError, badRequest } from '../core/errors.ts';
import { brake } from '../http/auth.ts';
import { readCookie, setCookie } from '../http/session-cookie.ts';
import type { Services } from './services.ts';

/** Starts a session, and makes this device and network known ones of the account. */
export async function signIn(
  { config, sessions, devices }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  user: User,
): Promise<void> {
  const { PUBLIC_URL } = config;
  const userAgent = request.headers['user-agent'] ?? '';
  const session = await sessions.start(user.id, { address: request.ip, userAgent });
  setCookie('session', request, reply, session, PUBLIC_URL);
  const known = devices.read(readCookie('device', request, PUBLIC_URL));
  const device = await devices.remember(user.id, request.ip, known);
  setCookie('device', request, reply, device, PUBLIC_URL);
}

/** For how long after a login, or the password again, keys are made and credentials stored without asking. */
export const RECENT_MS = 15 * 60_000;

/** Asks whose session it is once more, where the last proof is old: a stolen cookie alone makes no key. */
export async function requireRecentLogin(
  services: Services,
  caller: SessionCaller,
  reply: FastifyReply,
  password: string | undefined,
): Promise<void> {
  const { now, postgres, sessions } = services;
  if (password !== undefined) {
    await provePassword(services, await findUser(postgres.db, caller.userId), caller, reply, password);
    await sessions.authenticated(caller.sessionId);
  } else if (now() - caller.authenticatedAt.getTime() > RECENT_MS) {
    throw new ApiError(403, 'A recent login is required', {
      resolution: 'Send current_password too, or log in again.',
      errorText: `the last login of this session is over ${RECENT_MS / 60_000} minutes old`,
    });
  }
}

/** 400 unless it is the password of the account; ten attempts a minute of one session. */
export async function provePassword(
  { limits }: Services,
  user: User,
  caller: SessionCaller,
  reply: FastifyReply,
  password: string,
): Promise<void> {
  await brake(reply, limits.count('login', `password:${caller.sessionId}`), 'with one session');
  if (await verifyPassword(user.passwordHash, password)) return;
  throw badRequest([{ field: 'current_password', expected: 'the current password', received: 'another' }]);
}

/** 400 for a password that is easily guessed. */
export function refuseWeak(field: string, text: string, email: string): void {
  const weakness = passwordWeakness(text, email);
  if (weakness !== null) throw badRequest([{ field, expected: weakness, received: 'a value that is not shown' }]);
}
