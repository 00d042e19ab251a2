import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionCaller } from '../accounts/caller.ts';
import { passwordWeakness, verifyPassword } from '../accounts/passwords.ts';
import { findUser, passwordChanged, type User } from '../accounts/users.ts';
import { ApiError, badRequest, type FieldIssue } from '../core/errors.ts';
import { brake } from '../http/auth.ts';
import { readCookie, setCookie } from '../http/session-cookie.ts';
import type { Services } from './services.ts';

/** Starts a session, and remembers this device and network for the account; 401 if the password has changed since the user was read. */
export async function signIn(
  { config, sessions, devices }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  user: User,
): Promise<void> {
  const { PUBLIC_URL } = config;
  const userAgent = request.headers['user-agent'] ?? '';
  const session = await sessions.start(user, { address: request.ip, userAgent });
  if (session === null) throw passwordChanged();
  setCookie('session', request, reply, session, PUBLIC_URL);
  const known = devices.read(readCookie('device', request, PUBLIC_URL));
  const device = await devices.remember(user.id, request.ip, known);
  setCookie('device', request, reply, device, PUBLIC_URL);
}

/** After a login or a confirmed password, keys and credentials can be created this long without the password. */
export const RECENT_MS = 15 * 60_000;

/** Requires the password again after an old login, so that a stolen cookie alone creates no key. */
export async function requireRecentLogin(
  services: Services,
  caller: SessionCaller,
  reply: FastifyReply,
  password: string | undefined,
): Promise<void> {
  const { clock, postgres, sessions } = services;
  if (password !== undefined) {
    await provePassword(services, await findUser(postgres.db, caller.userId), caller, reply, password);
    await sessions.authenticated(caller.sessionId);
  } else if (clock.now() - caller.authenticatedAt.getTime() > RECENT_MS) {
    throw new ApiError(403, 'A recent login is required', {
      resolution: 'Send current_password too, or log in again.',
      errorText: `the last login of this session is over ${RECENT_MS / 60_000} minutes old`,
    });
  }
}

/** 400 unless it is the account's password; ten attempts a minute per session. */
export async function provePassword(
  { limits }: Services,
  user: User,
  caller: SessionCaller,
  reply: FastifyReply,
  password: string | undefined,
): Promise<void> {
  await brake(reply, limits.count('login', `password:${caller.sessionId}`), 'with one session');
  if (await verifyPassword(user.passwordHash, password ?? '')) return;
  const received = password === undefined ? 'nothing' : 'another';
  throw badRequest([{ field: 'current_password', expected: 'the current password', received }]);
}

/** What makes a new password easy to guess; [] if it is accepted or not given. `email` is '' where it is not known yet. */
export function weaknessOf(field: string, text: string | undefined, email = ''): FieldIssue[] {
  const weakness = text === undefined ? null : passwordWeakness(text, email);
  return weakness === null ? [] : [{ field, expected: weakness, received: 'a value that is not shown' }];
}

/** 400 for a new password that is easy to guess. */
export function refuseWeak(text: string, email: string): void {
  const issues = weaknessOf('new_password', text, email);
  if (issues.length > 0) throw badRequest(issues);
}
