import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Services } from '../app.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import { recordEvent } from '../accounts.ts';
import { requestTimeField, timeField, timeOrNull } from '../answers.ts';
import { requestTimeMs } from '../pages.ts';
import { textParam } from '../parameters.ts';

const Meta = z.object({ request_time: requestTimeField });
const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

const KeyRecord = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  created_at: timeField,
  last_used_at: timeOrNull.describe('Written in batches: up to some seconds old'),
  revoked_at: timeOrNull,
});

/** API keys: made, listed and revoked with a session. */
export function apiKeyRoutes(app: FastifyInstance, { apiKeys, postgres: { db } }: Services): void {
  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/api-keys',
      auth: 'session',
      tag: 'Account',
      summary: 'Create an API key',
      description: 'The key is in this answer only; the service keeps a hash.',
      body: { name: textParam(100) },
      statuses: [201],
      errors: [409],
      answer: z.object({
        id: z.string(),
        name: z.string(),
        key: z.string(),
        prefix: z.string(),
        created_at: timeField,
        meta: Meta,
      }),
    },
    async ({ body, caller, request, reply }) => {
      const { id, name, key, prefix, createdAt } = await apiKeys.create(caller.userId, body.name);
      await recordEvent(db, 'key_created', caller.userId, request.ip, { id });
      return {
        id,
        name,
        key,
        prefix,
        created_at: createdAt.toISOString(),
        meta: { request_time: requestTimeMs(reply) },
      };
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/api-keys',
      auth: 'session',
      tag: 'Account',
      summary: 'List API keys',
      answer: z.object({ api_keys: z.array(KeyRecord), meta: Meta }),
    },
    async ({ caller, reply }) => {
      const rows = await apiKeys.list(caller.userId);
      const records = rows.map(({ id, name, prefix, createdAt, lastUsedAt, revokedAt }) => ({
        id,
        name,
        prefix,
        created_at: createdAt.toISOString(),
        last_used_at: iso(lastUsedAt),
        revoked_at: iso(revokedAt),
      }));
      return { api_keys: records, meta: { request_time: requestTimeMs(reply) } };
    },
  );

  endpoint(
    app,
    {
      method: 'DELETE',
      url: '/v1/api/auth/api-keys/:id',
      auth: 'session',
      tag: 'Account',
      summary: 'Revoke an API key',
      params: { id: textParam(64) },
      answer: z.object({ id: z.string(), revoked: z.literal(true), meta: Meta }),
    },
    async ({ params, caller, request, reply }) => {
      const found = z.uuid().safeParse(params.id).success && (await apiKeys.revoke(caller.userId, params.id));
      if (!found)
        throw new ApiError(404, 'No such API key', { resolution: 'See GET /v1/api/auth/api-keys for the ids.' });
      await recordEvent(db, 'key_revoked', caller.userId, request.ip, { id: params.id });
      return { id: params.id, revoked: true as const, meta: { request_time: requestTimeMs(reply) } };
    },
  );
}
