import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Mail } from '../accounts/mailer.ts';
import { issueReset, redeemReset, resetLink, userOfReset } from '../accounts/password-resets.ts';
import { changePassword, findByEmail, findUser, noteEvent } from '../accounts/users.ts';
import type { Services } from './services.ts';
import { badRequest } from '../core/errors.ts';
import { requestTimeMs } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { knownEmail, newPassword, password } from '../schemas/account-fields.ts';
import { flagParam } from '../schemas/parameters.ts';
import { PasswordResetAnswer, UserAnswer } from '../schemas/account.ts';
import { userAnswer } from './account.ts';
import { provePassword, refuseWeak, requireRecentLogin, signIn, weaknessOf } from './sign-in.ts';

const tokenRule = { error: 'the token of a reset link' };

/** Passwords: changed with a session, or reset by a one-time link. */
export function passwordRoutes(app: FastifyInstance, services: Services): void {
  changePasswordRoute(app, services);
  resetPasswordRoute(app, services);
}

function changePasswordRoute(app: FastifyInstance, services: Services): void {
  const { db } = services.postgres;

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/password',
      auth: 'session',
      limit: 'login',
      tag: 'Account',
      operation: 'changePassword',
      summary: 'Change the password: ends every session and starts a new one',
      description:
        'An account without a password (created through an identity provider) sets its first one without current_password, within 15 minutes of a login.',
      body: { current_password: password.optional(), new_password: newPassword },
      together: (body) => weaknessOf('new_password', body.new_password),
      answer: UserAnswer,
    },
    async ({ body, caller, request, reply }) => {
      const user = await findUser(db, caller.userId);
      refuseWeak(body.new_password, user.email);
      if (user.passwordHash === null) await requireRecentLogin(services, caller, reply, undefined);
      else await provePassword(services, user, caller, reply, body.current_password);
      const passwordHash = await changePassword(db, { ...user, sessionId: caller.sessionId }, body.new_password);
      await noteEvent(services, 'password_changed', user.id, request.ip);
      await signIn(services, request, reply, { ...user, passwordHash });
      return userAnswer(user, reply);
    },
  );
}

function resetPasswordRoute(app: FastifyInstance, services: Services): void {
  const { config, log, mailer, clock, apiKeys } = services;
  const { db } = services.postgres;

  /** The mail with a link; null without an account, or after too many mails. */
  async function composeReset(address: string, ip: string): Promise<Mail | null> {
    const user = await findByEmail(db, address);
    const token = user && (await issueReset(db, { userId: user.id, mailed: true, now: clock.now() }));
    if (!token) return null;
    await noteEvent(services, 'password_reset_requested', user.id, ip);
    return resetMail(user.email, resetLink(config.PUBLIC_URL ?? '', token));
  }

  async function setPassword(token: string, text: string, revokesKeys: boolean, ip: string): Promise<void> {
    const user = await userOfReset(db, token, clock.now());
    if (!user) throw unusable();
    refuseWeak(text, user.email);
    const revoked = await redeemReset(db, { userId: user.id, token, password: text, revokesKeys, now: clock.now() });
    if (!revoked) throw unusable();
    apiKeys.forget(revoked);
    await noteEvent(services, 'password_reset', user.id, ip, revokesKeys ? { keys: 'revoked' } : {});
  }

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/password/reset',
      auth: 'none',
      limit: 'login',
      tag: 'Account',
      operation: 'resetPassword',
      summary: 'Reset a forgotten password by a one-time link',
      description:
        'With `email`: mails a link that is valid for one hour, if the e-mail has an account; the answer is the same if it has none. With `token` and `new_password`: uses the link, which ends every session.',
      body: {
        email: knownEmail.optional(),
        token: z.string(tokenRule).min(1, tokenRule).max(200, tokenRule).optional().describe('From the link'),
        new_password: newPassword.optional(),
        revoke_keys: flagParam(false).describe('With token: true also revokes every API key of the account'),
      },
      together: (body, failing) => {
        const given = (field: 'email' | 'token' | 'new_password') => body[field] !== undefined || failing.has(field);
        const link = ['token', 'new_password'] as const;
        if (given('email')) {
          const received = 'a value that is not shown';
          return link.filter(given).map((field) => ({ field, expected: 'nothing: not allowed with email', received }));
        }
        const missing = link.filter((field) => !given(field));
        if (missing.length === link.length) {
          return [{ field: 'email', expected: 'an e-mail address, or token and new_password', received: 'nothing' }];
        }
        const expected = 'a value: token and new_password go together';
        return [
          ...missing.map((field) => ({ field, expected, received: 'nothing' })),
          ...weaknessOf('new_password', body.new_password),
        ];
      },
      errors: [403],
      answer: PasswordResetAnswer,
    },
    async ({ body, request, reply }) => {
      const meta = { request_time: requestTimeMs(reply) };
      const { email: address, token = '', new_password: text = '', revoke_keys: revokesKeys } = body;
      if (address === undefined) {
        await setPassword(token, text, revokesKeys, request.ip);
        return { status: 'reset' as const, delivery: null, meta };
      }
      mailer?.send(() => composeReset(address, request.ip));
      if (!mailer) log.info({ reqId: request.id }, 'A password reset was requested; without SMTP_URL no mail is sent');
      return { status: 'requested' as const, delivery: mailer ? ('mail' as const) : ('operator' as const), meta };
    },
  );
}

const unusable = () =>
  badRequest(
    [{ field: 'token', expected: 'of a link that is neither used nor expired', received: 'a value that is not shown' }],
    'Ask for a new link with your email.',
  );

const resetMail = (to: string, link: string): Mail => ({
  to,
  subject: 'Reset your Forecastle password',
  text: `Someone asked to reset the password of this account. To set a new one, open this link within one hour:

${link}

It works once. If you did not ask for it, ignore this mail: nothing changes.
`,
});
