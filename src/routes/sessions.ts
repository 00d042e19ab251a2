import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listEvents } from '../accounts/events.ts';
import { recordEvent } from '../accounts/users.ts';
import type { Services } from './services.ts';
import { ApiError } from '../core/errors.ts';
import { pagination, requestTimeMs } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { Pagination, PlainMeta, timeField, timeOrNull } from '../schemas/markets.ts';
import { storedTextParam } from '../core/fields.ts';
import { cursorParam, limitParam } from '../schemas/parameters.ts';

const Session = z
  .object({
    id: z.string().describe('UUID'),
    current: z.boolean().describe('true: the session of this call'),
    created_at: timeField.describe('When it was created, ISO-8601 UTC with milliseconds'),
    last_used_at: timeOrNull('When it was last used, up to a minute late', 'while it was not'),
    expires_at: timeField.describe('When it expires, ISO-8601 UTC with milliseconds'),
    address: z.string().describe('Client address at login'),
    user_agent: z.string().describe("User-Agent at login; '' without one"),
  })
  .meta({ id: 'Session', description: 'An active session' });

const AccountEvent = z
  .object({
    id: z.int().describe('Number of the event; later ones are larger'),
    at: timeField.describe('When it happened, ISO-8601 UTC with milliseconds'),
    event: z.string().describe('What happened: logged_in, login_failed, key_created …'),
    address: z.string().describe("Where it came from; '' for the operator's commands"),
    detail: z
      .record(z.string(), z.string().describe('A value, by its name'))
      .describe('Details, such as the id of a key'),
  })
  .meta({ id: 'AccountEvent', description: 'An entry of the security log of an account' });

const Position = z.object({ id: z.int(), total: z.int() });

/** Where an account is logged in, and what happened to it. */
export function sessionRoutes(app: FastifyInstance, { sessions, cursors, postgres: { db } }: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/sessions',
      auth: 'session',
      tag: 'Account',
      operation: 'listSessions',
      summary: 'List the sessions of the account',
      answer: z.object({ sessions: z.array(Session).describe('Newest first'), meta: PlainMeta }),
    },
    async ({ caller, reply }) => {
      const rows = await sessions.list(caller.userId);
      const shown = rows.map((row) => ({
        id: row.id,
        current: row.id === caller.sessionId,
        created_at: row.createdAt.toISOString(),
        last_used_at: row.lastUsedAt?.toISOString() ?? null,
        expires_at: row.expiresAt.toISOString(),
        address: row.address,
        user_agent: row.userAgent,
      }));
      return { sessions: shown, meta: { request_time: requestTimeMs(reply) } };
    },
  );

  endpoint(
    app,
    {
      method: 'DELETE',
      url: '/v1/api/auth/sessions/:id',
      auth: 'session',
      tag: 'Account',
      operation: 'endSession',
      summary: 'End a session',
      params: { id: storedTextParam(64).describe('Id of the session') },
      answer: z.object({
        id: z.string().describe('Id of the session'),
        ended: z.literal(true).describe('Its cookie is no longer valid'),
        meta: PlainMeta,
      }),
    },
    async ({ params: { id }, caller, request, reply }) => {
      const found = z.uuid().safeParse(id).success && (await sessions.end(caller.userId, id));
      if (!found)
        throw new ApiError(404, 'Session not found', { resolution: 'See GET /v1/api/auth/sessions for the ids.' });
      await recordEvent(db, 'session_ended', caller.userId, request.ip, { id });
      return { id, ended: true as const, meta: { request_time: requestTimeMs(reply) } };
    },
  );

  endpoint(
    app,
    {
      method: 'DELETE',
      url: '/v1/api/auth/sessions',
      auth: 'session',
      tag: 'Account',
      operation: 'endOtherSessions',
      summary: 'End every other session of the account',
      answer: z.object({ ended: z.int().describe('Number of sessions that ended'), meta: PlainMeta }),
    },
    async ({ caller, request, reply }) => {
      const ended = await sessions.endOthers(caller.userId, caller.sessionId);
      if (ended > 0) await recordEvent(db, 'session_ended', caller.userId, request.ip, { others: String(ended) });
      return { ended, meta: { request_time: requestTimeMs(reply) } };
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/events',
      auth: 'session',
      tag: 'Account',
      operation: 'listAccountEvents',
      summary: 'Security log of the account, newest first',
      query: { limit: limitParam(50, 200), cursor: cursorParam() },
      answer: z.object({
        events: z.array(AccountEvent).describe('Newest first'),
        pagination: Pagination,
        meta: PlainMeta,
      }),
    },
    async ({ query: { limit, cursor }, caller, reply }) => {
      const scope = { user: caller.userId };
      const position = cursor === undefined ? null : cursors.decode('events', scope, cursor, Position);
      const { rows, total, next } = await listEvents(db, caller.userId, position, limit);
      const nextCursor = next === null ? null : cursors.encode('events', scope, { id: next, total });
      return {
        events: rows.map(({ id, at, event, address, detail }) => ({
          id,
          at: at.toISOString(),
          event,
          address,
          detail,
        })),
        pagination: pagination(total, limit, nextCursor),
        meta: { request_time: requestTimeMs(reply) },
      };
    },
  );
}
