import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { verifyPassword } from '../accounts/passwords.ts';
import { createUser, findUser, noteEvent, registrationClosed, type User } from '../accounts/users.ts';
import type { Services } from './services.ts';
import { clientNetwork } from '../core/client-address.ts';
import { ApiError } from '../core/errors.ts';
import { brake, countLogin } from '../http/auth.ts';
import { requestTimeMs } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { clearSessionCookie } from '../http/session-cookie.ts';
import { knownEmail, newEmail, newPassword, password } from '../schemas/account-fields.ts';
import { LoggedOutAnswer, UserAnswer } from '../schemas/account.ts';
import { isStorableText } from '../core/fields.ts';
import { signIn, weaknessOf } from './sign-in.ts';

const nameRule = { error: 'text of at most 100 characters of valid Unicode without NUL' };
const name = z.string(nameRule).trim().max(100, nameRule).refine(isStorableText, nameRule).describe('Display name');

export const userAnswer = (user: User, reply: FastifyReply): z.output<typeof UserAnswer> => ({
  user: { id: user.id, email: user.email, name: user.name, tier: user.tier, created_at: user.createdAt.toISOString() },
  meta: { request_time: requestTimeMs(reply) },
});

const wrongLogin = (): ApiError =>
  new ApiError(401, 'Wrong e-mail or password', { resolution: 'Check both, or register.' });

/** Accounts: registration, login and logout. */
export function accountRoutes(app: FastifyInstance, services: Services): void {
  const { config, devices, limits, sessions } = services;
  const { db } = services.postgres;

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/register',
      auth: 'none',
      limit: 'login',
      tag: 'Account',
      operation: 'registerAccount',
      summary: 'Create an account and a session',
      description: '403 if the operator closed registration.',
      body: { email: newEmail, password: newPassword, name: name.default('') },
      together: (body) => weaknessOf('password', body.password, body.email),
      statuses: [201],
      errors: [403, 409],
      answer: UserAnswer,
    },
    async ({ body, request, reply }) => {
      if (!config.registrationOpen) throw registrationClosed();
      await brake(reply, limits.count('login', `register:${fingerprint(body.email)}`), 'on one account');
      const user = await createUser(db, body.email, body.name, body.password);
      await noteEvent(services, 'registered', user.id, request.ip);
      await signIn(services, request, reply, user);
      return userAnswer(user, reply);
    },
  );

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/login',
      auth: 'none',
      limit: 'device',
      tag: 'Account',
      operation: 'logIn',
      summary: 'Log in: sets the session cookie',
      description:
        'Limit: 10 attempts a minute per address and per account. Devices and networks that logged in to the account before have their own limit.',
      body: { email: knownEmail, password },
      errors: [401, 403],
      answer: UserAnswer,
    },
    async ({ body, request, reply }) => {
      const { user, knownNetwork } = await devices.account(body.email, request.ip);
      const device = request.device?.userId === user?.id ? request.device : null;
      // A device of another account does not bypass the limit.
      if (request.device && !device) await countLogin(request, reply, limits);
      const familiar = device ? `:device:${device.id}` : knownNetwork ? `:from:${clientNetwork(request.ip)}` : '';
      await brake(reply, limits.count('login', `login:${fingerprint(body.email)}${familiar}`), 'on one account');
      const proven = await verifyPassword(user?.passwordHash, body.password);
      await noteEvent(services, proven ? 'logged_in' : 'login_failed', user?.id ?? null, request.ip);
      if (!user || !proven) throw wrongLogin();
      await signIn(services, request, reply, user);
      return userAnswer(user, reply);
    },
  );

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/logout',
      auth: 'session',
      tag: 'Account',
      operation: 'logOut',
      summary: 'End this session',
      answer: LoggedOutAnswer,
    },
    async ({ caller, request, reply }) => {
      await sessions.end(caller.userId, caller.sessionId);
      await noteEvent(services, 'logged_out', caller.userId, request.ip);
      clearSessionCookie(request, reply, config.PUBLIC_URL);
      return { logged_out: true as const, meta: { request_time: requestTimeMs(reply) } };
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/me',
      auth: 'session',
      tag: 'Account',
      operation: 'getAccount',
      summary: 'Who is logged in',
      answer: UserAnswer,
    },
    async ({ caller, reply }) => userAnswer(await findUser(db, caller.userId), reply),
  );
}

/** Counters outlive requests, so they contain no e-mail. */
const fingerprint = (mail: string): string => hash('sha256', mail, 'base64url');
