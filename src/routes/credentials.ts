import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { recordEvent } from '../accounts.ts';
import { platformField, requestTimeField, timeField } from '../answers.ts';
import type { Services } from '../app.ts';
import { CredentialFields } from '../credential-forms.ts';
import type { CredentialRecord } from '../credentials.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import { requestTimeMs } from '../pages.ts';
import { flagParam, integerParam, platformParam, textParam } from '../parameters.ts';
import { readInput } from '../query.ts';

const Meta = z.object({ request_time: requestTimeField });
const Credential = z.object({
  id: z.int(),
  platform: platformField,
  label: z.string(),
  is_default: z.boolean(),
  created_at: timeField,
});

const shown = ({ id, platform, label, isDefault, createdAt }: CredentialRecord): z.output<typeof Credential> => ({
  id,
  platform,
  label,
  is_default: isDefault,
  created_at: createdAt.toISOString(),
});

const FORMS = `kalshi {api_key_id, private_key}; polymarket {private_key, signature_type?, funder?, api_key?, api_secret?,
api_passphrase?}; limitless {token_id, secret, private_key, address?}`;

/** Platform credentials, with which orders are signed. What is stored never comes back out. */
export function credentialRoutes(app: FastifyInstance, { credentials, postgres: { db } }: Services): void {
  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/auth/credentials',
      auth: 'session',
      tag: 'Account',
      summary: 'Store a platform credential',
      description: `Fields by platform: ${FORMS}. They are checked for form, sealed, and never shown again.`,
      body: {
        platform: platformParam(),
        label: textParam(100),
        fields: z.record(z.string(), z.unknown(), { error: 'an object of the fields of the platform' }),
        is_default: flagParam(false),
      },
      statuses: [201],
      errors: [409],
      answer: Credential.extend({ meta: Meta }),
    },
    async ({ body, caller, request, reply }) => {
      const { platform, label } = body;
      const { fields } = readInput(
        { body: { fields: CredentialFields[platform] } },
        { params: {}, query: {}, body: { fields: body.fields } },
      ).body;
      const made = await credentials.store(caller.userId, platform, label, fields, body.is_default);
      await recordEvent(db, 'credential_stored', caller.userId, request.ip, { id: String(made.id), platform });
      return { ...shown(made), meta: { request_time: requestTimeMs(reply) } };
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/credentials',
      auth: 'session',
      tag: 'Account',
      summary: 'List platform credentials, without their secrets',
      answer: z.object({ credentials: z.array(Credential), meta: Meta }),
    },
    async ({ caller, reply }) => {
      const rows = await credentials.list(caller.userId);
      return { credentials: rows.map(shown), meta: { request_time: requestTimeMs(reply) } };
    },
  );

  endpoint(
    app,
    {
      method: 'DELETE',
      url: '/v1/api/auth/credentials/:id',
      auth: 'session',
      tag: 'Account',
      summary: 'Delete a platform credential',
      params: { id: integerParam(1, Number.MAX_SAFE_INTEGER) },
      answer: z.object({ id: z.int(), deleted: z.literal(true), meta: Meta }),
    },
    async ({ params: { id }, caller, request, reply }) => {
      if (!(await credentials.remove(caller.userId, id))) {
        throw new ApiError(404, 'No such credential', { resolution: 'See GET /v1/api/auth/credentials for the ids.' });
      }
      await recordEvent(db, 'credential_deleted', caller.userId, request.ip, { id: String(id) });
      return { id, deleted: true as const, meta: { request_time: requestTimeMs(reply) } };
    },
  );
}
