import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Services } from '../app.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import { recordEvent } from '../accounts.ts';
import { PlainMeta, timeField, timeOrNull } from '../answers.ts';
import { requestTimeMs } from '../pages.ts';
import { storedTextParam } from '../parameters.ts';

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

const NewKey = z.object({
  id: z.string().describe('UUID'),
  name: z.string().describe('As given'),
  prefix: z.string().describe('First characters of the key, to tell it by'),
  created_at: timeField.describe('When it was made, ISO-8601 UTC with milliseconds'),
});
const KeyRecord = NewKey.extend({
  last_used_at: timeOrNull('When it was last used, up to some seconds late', 'while it was not'),
  revoked_at: timeOrNull('When it was revoked', 'while it is in force'),
}).meta({ id: 'ApiKey', description: 'An API key without its secret' });

/** API keys: made, listed and revoked with a session. */
export function apiKeyRoutes(app: FastifyInstance, { apiKeys, postgres: { db } }: Services): void {
  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/api-keys',
      auth: 'session',
      tag: 'Account',
      operation: 'createApiKey',
      summary: 'Create an API key',
      description: 'The key is in this answer only; the service keeps a hash.',
      body: { name: storedTextParam(100).describe('To tell the key by, 1 to 100 characters') },
      statuses: [201],
      errors: [409],
      answer: NewKey.extend({
        key: z.string().describe('The secret, 52 characters; shown here and never again'),
        meta: PlainMeta,
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
      operation: 'listApiKeys',
      summary: 'List API keys',
      answer: z.object({ api_keys: z.array(KeyRecord).describe('Oldest first, revoked ones too'), meta: PlainMeta }),
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
      operation: 'revokeApiKey',
      summary: 'Revoke an API key',
      params: { id: storedTextParam(64).describe('Id of the key') },
      answer: z.object({
        id: z.string().describe('Id of the key'),
        revoked: z.literal(true).describe('Refused from now on'),
        meta: PlainMeta,
      }),
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
