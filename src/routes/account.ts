import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { changePassword, checkPassword, createUser, findUser, recordEvent, type User } from '../accounts.ts';
import { PlainMeta, timeField } from '../answers.ts';
import type { Services } from '../app.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError, badRequest } from '../errors.ts';
import { requestTimeMs } from '../pages.ts';
import { isStorable } from '../parameters.ts';
import { passwordWeakness, verifyPassword } from '../passwords.ts';
import { setLimitHeaders, tooMany, type RateLimits } from '../rate-limit.ts';
import { clearSessionCookie, setSessionCookie } from '../session-cookie.ts';

const emailRule = { error: 'an e-mail address' };
const email = z
  .string(emailRule)
  .trim()
  .toLowerCase()
  .max(254, emailRule)
  .pipe(z.email(emailRule))
  .describe('E-mail address, whatever its case');
const lengthRule = { error: 'text of 12 to 128 characters' };
const newPassword = z
  .string(lengthRule)
  .refine((text) => [...text].length >= 12 && [...text].length <= 128, lengthRule)
  .describe('12 to 128 characters, none of the common ones');
/** At login only the right one passes, so its form is not checked. */
const password = z
  .string({ error: 'text' })
  .min(1, { error: 'text' })
  .max(1024, { error: 'text' })
  .describe('The current password');
const nameRule = { error: 'text of at most 100 characters, without NUL and halves of a character' };
const name = z
  .string(nameRule)
  .trim()
  .max(100, nameRule)
  .refine(isStorable, nameRule)
  .describe('What to call the user');

export const UserAnswer = z
  .object({
    user: z
      .object({
        id: z.string().describe('UUID'),
        email: z.string().describe('In lower case'),
        name: z.string().describe("'' when none was given"),
        tier: z.enum(['free', 'pro']).describe('250 or 500 requests per minute'),
        created_at: timeField.describe('When the account was made, ISO-8601 UTC with milliseconds'),
      })
      .meta({ id: 'User', description: 'An account' }),
    meta: PlainMeta,
  })
  .meta({ id: 'Account' });

export const userAnswer = (user: User, reply: FastifyReply): z.output<typeof UserAnswer> => ({
  user: { id: user.id, email: user.email, name: user.name, tier: user.tier, created_at: user.createdAt.toISOString() },
  meta: { request_time: requestTimeMs(reply) },
});

const wrongLogin = (): ApiError =>
  new ApiError(401, 'Wrong e-mail or password', { resolution: 'Check both, or register.' });

/** Accounts and sessions. */
export function accountRoutes(app: FastifyInstance, { config, postgres: { db }, sessions, limits }: Services): void {
  const signIn = async (request: FastifyRequest, reply: FastifyReply, user: User) => {
    setSessionCookie(request, reply, await sessions.start(user.id), config.PUBLIC_URL);
    return userAnswer(user, reply);
  };

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
      body: { email, password: newPassword, name: name.default('') },
      statuses: [201],
      errors: [403, 409],
      answer: UserAnswer,
    },
    async ({ body, request, reply }) => {
      await countAttempt(limits, reply, 'register', body.email);
      refuseWeak('password', body.password, body.email);
      const user = await createUser(db, body.email, body.name, body.password);
      await recordEvent(db, 'registered', user.id, request.ip);
      return signIn(request, reply, user);
    },
  );

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/login',
      auth: 'none',
      limit: 'login',
      tag: 'Account',
      operation: 'logIn',
      summary: 'Log in: sets the session cookie',
      body: { email, password },
      errors: [401, 403],
      answer: UserAnswer,
    },
    async ({ body, request, reply }) => {
      await countAttempt(limits, reply, 'login', body.email);
      const { account, proven } = await checkPassword(db, body.email, body.password);
      await recordEvent(db, proven ? 'logged_in' : 'login_failed', account?.id ?? null, request.ip);
      if (!account || !proven) throw wrongLogin();
      return signIn(request, reply, account);
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
      answer: z.object({ logged_out: z.literal(true).describe('The session is over'), meta: PlainMeta }),
    },
    async ({ caller, request, reply }) => {
      await sessions.end(caller.sessionId);
      await recordEvent(db, 'logged_out', caller.userId, request.ip);
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
        'An account without a password (made through an identity provider) sets its first one without current_password.',
      body: { current_password: password.optional(), new_password: newPassword },
      answer: UserAnswer,
    },
    async ({ body, caller, request, reply }) => {
      const user = await findUser(db, caller.userId);
      await countAttempt(limits, reply, 'password', user.email);
      refuseWeak('new_password', body.new_password, user.email);
      const proven =
        user.passwordHash === null || (await verifyPassword(user.passwordHash, body.current_password ?? ''));
      if (!proven)
        throw badRequest([{ field: 'current_password', expected: 'the current password', received: 'another' }]);
      await changePassword(db, user.id, body.new_password);
      await recordEvent(db, 'password_changed', user.id, request.ip);
      return signIn(request, reply, user);
    },
  );
}

function refuseWeak(field: string, text: string, mail: string): void {
  const weakness = passwordWeakness(text, mail);
  if (weakness !== null) throw badRequest([{ field, expected: weakness, received: 'a value that is not shown' }]);
}

/** Ten attempts a minute per account, whatever addresses they come from. The e-mail is hashed: counters outlive requests. */
async function countAttempt(limits: RateLimits, reply: FastifyReply, action: string, mail: string): Promise<void> {
  const account = createHash('sha256').update(mail).digest('base64url');
  const count = await limits.count('login', `${action}:${account}`);
  if (count.allowed) return;
  setLimitHeaders(reply, count);
  throw tooMany(count, 'on one account');
}
