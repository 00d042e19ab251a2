import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Services } from './services.ts';
import { endpoint } from '../http/endpoint.ts';
import { ApiError } from '../core/errors.ts';
import type { apiKeys } from '../accounts/tables.ts';
import { SCOPES } from '../core/model.ts';
import { CreatedKeyAnswer, KeysAnswer, RevokedKeyAnswer, type KeyRecord, type NewKey } from '../schemas/account.ts';
import { noteEvent } from '../accounts/users.ts';
import { currentPassword } from '../schemas/account-fields.ts';
import { timestampParam } from '../schemas/parameters.ts';
import { requireRecentLogin } from './sign-in.ts';
import { requestTimeMs } from '../http/cursors.ts';
import { storedTextParam } from '../core/fields.ts';

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

const scopesRule = { error: 'a list of read, trade or both' };
const scopesParam = z
  .array(z.enum(SCOPES, scopesRule), scopesRule)
  .min(1, scopesRule)
  .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope)))
  .default([...SCOPES]);
const expiryParam = z.union([z.null(), timestampParam()]).default(null);
const addressesRule = { error: 'a list of at most 50 addresses or CIDR blocks' };
const addressesParam = z
  .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'an address or CIDR block' }), addressesRule)
  .max(50, addressesRule)
  .default([]);

type Row = typeof apiKeys.$inferSelect;

const shown = (row: Row): z.output<typeof NewKey> => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  expires_at: iso(row.expiresAt),
  allowed_addresses: row.allowedAddresses,
  created_at: row.createdAt.toISOString(),
});

const recordOf = (row: Row): z.output<typeof KeyRecord> => ({
  ...shown(row),
  last_used_at: iso(row.lastUsedAt),
  revoked_at: iso(row.revokedAt),
});

/** API keys: created and listed with a session, revoked with a session or by the key itself. */
export function apiKeyRoutes(app: FastifyInstance, services: Services): void {
  createApiKeyRoute(app, services);
  listApiKeysRoute(app, services);
  revokeApiKeyRoute(app, services);
}

function createApiKeyRoute(app: FastifyInstance, services: Services): void {
  const { clock } = services;

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/api-keys',
      auth: 'session',
      tag: 'Account',
      operation: 'createApiKey',
      summary: 'Create an API key',
      description:
        'The key is shown in this answer only; the service stores a hash. current_password is required if the last login is over 15 minutes old.',
      body: {
        name: storedTextParam(100).describe('Label of the key, 1 to 100 characters'),
        scopes: scopesParam.describe('read: every GET; trade: orders and every other write. Default: both'),
        expires_at: expiryParam.describe('Expiry: Unix seconds, Unix milliseconds or ISO-8601. Default null, never'),
        allowed_addresses: addressesParam.describe('Addresses and CIDR blocks it may be used from. Default [], any'),
        current_password: currentPassword,
      },
      together: ({ expires_at: expiry }) =>
        typeof expiry === 'number' && expiry <= clock.now()
          ? [{ field: 'expires_at', expected: 'a time in the future', received: new Date(expiry).toISOString() }]
          : [],
      statuses: [201],
      errors: [409],
      answer: CreatedKeyAnswer,
    },
    async ({ body, caller, request, reply }) => {
      await requireRecentLogin(services, caller, reply, body.current_password);
      const { scopes, expires_at: expiry } = body;
      const expiresAt = expiry === null ? null : new Date(expiry);
      const terms = { scopes, expiresAt, allowedAddresses: body.allowed_addresses };
      const made = await services.apiKeys.create(caller, body.name, terms);
      await noteEvent(services, 'key_created', caller.userId, request.ip, { id: made.id, scopes: scopes.join(' ') });
      return { ...shown(made), key: made.key, meta: { request_time: requestTimeMs(reply) } };
    },
  );
}

function listApiKeysRoute(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/api-keys',
      auth: 'session',
      tag: 'Account',
      operation: 'listApiKeys',
      summary: 'List API keys',
      answer: KeysAnswer,
    },
    async ({ caller, reply }) => {
      const rows = await services.apiKeys.list(caller.userId);
      return { api_keys: rows.map((row) => recordOf(row)), meta: { request_time: requestTimeMs(reply) } };
    },
  );
}

function revokeApiKeyRoute(app: FastifyInstance, services: Services): void {
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
      answer: RevokedKeyAnswer,
    },
    async ({ params, caller, request, reply }) => {
      const { id } = params;
      const found = z.uuid().safeParse(id).success && (await services.apiKeys.revoke(caller.userId, id));
      if (!found)
        throw new ApiError(404, 'API key not found', { resolution: 'See GET /v1/api/auth/api-keys for the ids.' });
      await noteEvent(services, 'key_revoked', caller.userId, request.ip, { id });
      return { id, revoked: true as const, meta: { request_time: requestTimeMs(reply) } };
    },
  );
}
