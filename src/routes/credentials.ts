import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { noteEvent } from '../accounts/users.ts';
import {
  type Credential,
  CredentialsAnswer,
  DeletedCredentialAnswer,
  StoredCredentialAnswer,
} from '../schemas/account.ts';
import type { Services } from './services.ts';
import { credentialFields } from '../platforms/manifests.ts';
import type { CredentialRecord } from '../accounts/credentials.ts';
import { endpoint } from '../http/endpoint.ts';
import { ApiError } from '../core/errors.ts';
import { PLATFORMS } from '../core/model.ts';
import { requestTimeMs } from '../http/cursors.ts';
import { flagParam, integerParam, platformParam } from '../schemas/parameters.ts';
import { storedTextParam } from '../core/fields.ts';
import { fieldIssues } from '../http/read-input.ts';
import { currentPassword } from '../schemas/account-fields.ts';
import { requireRecentLogin } from './sign-in.ts';

const shown = ({ id, platform, label, isDefault, createdAt }: CredentialRecord): z.output<typeof Credential> => ({
  id,
  platform,
  label,
  is_default: isDefault,
  created_at: createdAt.toISOString(),
});

/** The fields of every platform's credential. */
const FORMS = PLATFORMS.map((platform) => {
  const shape = Object.entries(credentialFields(platform).shape);
  const fields = shape.map(([name, schema]) => ({ name, required: !schema.safeParse(undefined).success }));
  return { platform, fields };
});
/** `platform {field, optional?}` of every platform. */
const FORMS_TEXT = FORMS.map(({ platform, fields }) => {
  return `${platform} {${fields.map(({ name, required }) => (required ? name : `${name}?`)).join(', ')}}`;
}).join('; ');

const idParam = integerParam(1, Number.MAX_SAFE_INTEGER).describe('Number of the credential');

const notFound = (): ApiError =>
  new ApiError(404, 'Credential not found', { resolution: 'See GET /v1/api/auth/credentials for the ids.' });

/** Platform credentials that sign orders. Stored secrets are never returned. */
export function credentialRoutes(app: FastifyInstance, services: Services): void {
  storeCredentialRoute(app, services);
  listCredentialsRoute(app, services);
  getCredentialRoute(app, services);
  deleteCredentialRoute(app, services);
}

function storeCredentialRoute(app: FastifyInstance, services: Services): void {
  const { credentials } = services;

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/credentials',
      auth: 'session',
      tag: 'Account',
      operation: 'storeCredential',
      summary: 'Store a platform credential',
      description: `Fields by platform: ${FORMS_TEXT}. They are validated, encrypted, and never returned.
current_password is required if the last login is over 15 minutes old.`,
      body: {
        platform: platformParam(),
        label: storedTextParam(100).describe('Label of the credential, 1 to 100 characters'),
        fields: z
          .record(z.string(), z.unknown(), { error: 'an object of the fields of the platform' })
          .meta({ description: FORMS_TEXT, 'x-forms': FORMS }),
        is_default: flagParam(false).describe('true: use it if an order has no credential_id'),
        current_password: currentPassword,
      },
      together: ({ platform, fields }) => {
        const { error } = platform && fields ? credentialFields(platform).safeParse(fields) : {};
        return error ? fieldIssues('fields', fields, error.issues) : [];
      },
      statuses: [201],
      errors: [409],
      answer: StoredCredentialAnswer,
    },
    async ({ body, caller, request, reply }) => {
      await requireRecentLogin(services, caller, reply, body.current_password);
      const { platform, label } = body;
      const fields = credentialFields(platform).parse(body.fields);
      const { userId, sessionId } = caller;
      const made = await credentials.store(userId, platform, label, fields, body.is_default, sessionId);
      await noteEvent(services, 'credential_stored', caller.userId, request.ip, { id: String(made.id), platform });
      return { ...shown(made), meta: { request_time: requestTimeMs(reply) } };
    },
  );
}

function listCredentialsRoute(app: FastifyInstance, services: Services): void {
  const { credentials } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/credentials',
      auth: 'session',
      tag: 'Account',
      operation: 'listCredentials',
      summary: 'List platform credentials, without their secrets',
      answer: CredentialsAnswer,
    },
    async ({ caller, reply }) => {
      const rows = await credentials.list(caller.userId);
      return { credentials: rows.map(shown), meta: { request_time: requestTimeMs(reply) } };
    },
  );
}

function getCredentialRoute(app: FastifyInstance, services: Services): void {
  const { credentials } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/credentials/:id',
      auth: 'session',
      tag: 'Account',
      operation: 'getCredential',
      summary: 'Get a platform credential, without its secrets',
      params: { id: idParam },
      answer: StoredCredentialAnswer,
    },
    async ({ params: { id }, caller, reply }) => {
      const rows = await credentials.list(caller.userId);
      const found = rows.find((row) => row.id === id);
      if (!found) throw notFound();
      return { ...shown(found), meta: { request_time: requestTimeMs(reply) } };
    },
  );
}

function deleteCredentialRoute(app: FastifyInstance, services: Services): void {
  const { credentials } = services;

  endpoint(
    app,
    {
      method: 'DELETE',
      url: '/v1/api/auth/credentials/:id',
      auth: 'session',
      tag: 'Account',
      operation: 'deleteCredential',
      summary: 'Delete a platform credential',
      params: { id: idParam },
      answer: DeletedCredentialAnswer,
    },
    async ({ params: { id }, caller, request, reply }) => {
      if (!(await credentials.remove(caller.userId, id))) throw notFound();
      await noteEvent(services, 'credential_deleted', caller.userId, request.ip, { id: String(id) });
      return { id, deleted: true as const, meta: { request_time: requestTimeMs(reply) } };
    },
  );
}
