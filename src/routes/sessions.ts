import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listEvents } from '../accounts/events.ts';
import { noteEvent } from '../accounts/users.ts';
import type { Services } from './services.ts';
import { ApiError } from '../core/errors.ts';
import { pagination, requestTimeMs } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { AccountEventsAnswer, EndedSessionAnswer, EndedSessionsAnswer, SessionsAnswer } from '../schemas/sessions.ts';
import { storedTextParam } from '../core/fields.ts';
import { cursorParam, limitParam } from '../schemas/parameters.ts';

const Position = z.object({ id: z.int(), total: z.int() });

/** Sessions of an account, and its security log. */
export function sessionRoutes(app: FastifyInstance, services: Services): void {
  listSessionsRoute(app, services);
  endSessionRoute(app, services);
  endOtherSessionsRoute(app, services);
  listAccountEventsRoute(app, services);
}

function listSessionsRoute(app: FastifyInstance, services: Services): void {
  const { sessions } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/sessions',
      auth: 'session',
      tag: 'Account',
      operation: 'listSessions',
      summary: 'List the sessions of the account',
      answer: SessionsAnswer,
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
}

function endSessionRoute(app: FastifyInstance, services: Services): void {
  const { sessions } = services;

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
      answer: EndedSessionAnswer,
    },
    async ({ params: { id }, caller, request, reply }) => {
      const found = z.uuid().safeParse(id).success && (await sessions.end(caller.userId, id));
      if (!found)
        throw new ApiError(404, 'Session not found', { resolution: 'See GET /v1/api/auth/sessions for the ids.' });
      await noteEvent(services, 'session_ended', caller.userId, request.ip, { id });
      return { id, ended: true as const, meta: { request_time: requestTimeMs(reply) } };
    },
  );
}

function endOtherSessionsRoute(app: FastifyInstance, services: Services): void {
  const { sessions } = services;

  endpoint(
    app,
    {
      method: 'DELETE',
      url: '/v1/api/auth/sessions',
      auth: 'session',
      tag: 'Account',
      operation: 'endOtherSessions',
      summary: 'End every other session of the account',
      answer: EndedSessionsAnswer,
    },
    async ({ caller, request, reply }) => {
      const ended = await sessions.endOthers(caller.userId, caller.sessionId);
      if (ended > 0) await noteEvent(services, 'session_ended', caller.userId, request.ip, { others: String(ended) });
      return { ended, meta: { request_time: requestTimeMs(reply) } };
    },
  );
}

function listAccountEventsRoute(app: FastifyInstance, services: Services): void {
  const { cursors } = services;
  const { db } = services.postgres;

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
      answer: AccountEventsAnswer,
    },
    async ({ query: { limit, cursor }, caller, reply }) => {
      const scope = { user: caller.userId };
      const position = cursors.decode('account_events', scope, cursor, Position);
      const { rows, total, next } = await listEvents(db, caller.userId, position, limit);
      const nextCursor = cursors.encode('account_events', scope, next === null ? null : { id: next, total });
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
